import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../examples/express/', import.meta.url));

/** The example app as a process of its own, so that it can be killed for real. */
export class App {
  #child;
  #env;
  #starts = 0;
  #waiting = [];
  url = '';

  constructor(env) {
    this.#env = { ...process.env, NODE_ENV: 'development', ...env };
  }

  /** Starts the process and waits until it listens. */
  async start() {
    const child = spawn(process.execPath, ['server.js'], {
      cwd: folder,
      env: this.#env,
      // Its warnings about forged signatures and failing handlers are what the demo provokes.
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    let complaint = '';
    child.stderr.on('data', (chunk) => {
      complaint += chunk;
    });
    for await (const line of createInterface({ input: child.stdout })) {
      const [, url] = /listening on (http:\S+)/.exec(line) ?? [];
      if (!url) continue;
      this.url = url;
      // Restarts take the same port, as a real deployment would.
      this.#env.PORT = new URL(url).port;
      this.#starts++;
      if (this.#starts > 1) for (const tell of this.#waiting.splice(0)) tell();
      return;
    }
    throw new Error(`The example did not start.\n${complaint}`);
  }

  /** Resolves once the process has been started again. */
  restarted() {
    return this.#starts > 1 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** What the app's handlers did, as it tells itself. */
  async handled() {
    return (await fetch(new URL('/handled', this.url))).json();
  }

  /** SIGKILL: no handler, no cleanup, no goodbye. */
  async kill() {
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }

  async stop() {
    if (!this.#child || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await gone;
  }
}
