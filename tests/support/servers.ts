import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './waiting.ts';

/** A server of a test's own, which it may freeze and stop. */
export interface OwnServer {
  readonly url: string;
  readonly port: number;
  /** Freezes the server's process: resolves once it stands still. */
  pause(): Promise<void>;
  resume(): void;
  /** Ends it without a chance to say goodbye. */
  kill(): void;
  stop(): Promise<void>;
}

/** Starts a server by the command that its starter in `scripts/servers` is: it is in a process of its own. */
export async function launch(name: string, options: object): Promise<OwnServer> {
  const starter = join(__dirname, '..', '..', 'scripts', 'servers', `${name}.mjs`);
  const child: ChildProcess = spawn(process.execPath, [starter, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  const line = await Promise.race([once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data'), gone]);
  if (typeof line[0] === 'number') throw new Error(`${name} did not start; why stands above.`);
  const { url, pid } = JSON.parse(String(line[0])) as { url: string; pid: number };
  return {
    url,
    port: Number(new URL(url).port),
    async pause() {
      process.kill(pid, 'SIGSTOP');
      // The signal is sent at once, but each thread stops in its own time.
      await until(() =>
        readdirSync(`/proc/${pid}/task`).every((thread) => isStopped(`/proc/${pid}/task/${thread}/stat`)),
      );
    },
    resume: () => void process.kill(pid, 'SIGCONT'),
    kill: () => void process.kill(pid, 'SIGKILL'),
    async stop() {
      child.stdin?.end();
      await gone;
    },
  };
}

function isStopped(stat: string): boolean {
  return readFileSync(stat, 'utf8').includes(') T ');
}
