/** What the server starters share: a free port, a temporary folder, a process that is ended by its own id. */
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** A port on 127.0.0.1 that nobody listens on. */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Where a program is, or undefined. Server programs are often in folders that are on root's PATH only. */
export function findProgram(...names) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin'];
  for (const name of names) {
    for (const folder of folders) {
      const path = join(folder, name);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // The next folder may have it.
      }
    }
  }
  return undefined;
}

/**
 * Finds a server program. Where it is missing and we may, installs Debian's package; else says how to get it.
 *
 * @throws where the program is missing and could not be installed.
 */
export function needProgram({ names, aptPackage, variable }) {
  const found = findProgram(...names);
  if (found) return found;
  const apt = findProgram('apt-get');
  if (apt && process.getuid?.() === 0) {
    console.error(`${names[0]} is missing: installing Debian's package ${aptPackage} (about 10 s) …`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const run = (...args) => spawnSync(apt, args, { env, encoding: 'utf8' });
    const install = () => run('install', '-y', '--no-install-recommends', aptPackage);
    // The package lists may be missing or stale, and fetching them costs more than trying without.
    let done = install();
    if (done.status !== 0) {
      run('update');
      done = install();
    }
    const installed = findProgram(...names);
    if (installed) return installed;
    console.error(done.stderr);
  }
  throw new Error(
    `${names[0]} is missing. Install it (Debian: apt-get install ${aptPackage})${variable ? `, or set ${variable} to what takes its place` : ''}.`,
  );
}

export async function temporaryFolder(name) {
  return mkdtemp(join(tmpdir(), `factuarea-webhook-${name}-`));
}

/**
 * Runs a server until `stop()`. `ready` is asked every few milliseconds, with what the server wrote so far; a server
 * that ends before it is ready is an error with what it wrote.
 */
export async function runServer({ program, args, options = {}, folder, stopSignal = 'SIGTERM', ready }) {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let failed;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text) => {
      output = (output + text).slice(-10_000);
    });
  }
  const ended = new Promise((resolve) => {
    child.once('error', (error) => {
      failed = error;
      resolve();
    });
    child.once('exit', resolve);
  });
  // A test run that is cut short must leave no server behind.
  const killNow = () => child.kill('SIGKILL');
  process.once('exit', killNow);

  async function stop() {
    process.removeListener('exit', killNow);
    if (child.exitCode === null && child.signalCode === null && !failed) {
      child.kill(stopSignal);
      // A stopped process takes no signal to end, so it is woken first.
      child.kill('SIGCONT');
      const timer = setTimeout(killNow, 5_000);
      await ended;
      clearTimeout(timer);
    }
    if (folder) await rm(folder, { recursive: true, force: true });
  }

  const end = Date.now() + 20_000;
  for (;;) {
    if (failed || child.exitCode !== null || child.signalCode !== null || Date.now() > end) {
      await stop();
      throw new Error(`${program} did not start.\n${failed ?? ''}${output}`);
    }
    if (await ready(output)) return { pid: child.pid, stop };
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Whether something listens on the port. */
export function listens(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Makes a starter a program: writes `{ url, pid }` on one line, and ends the server when its input ends. */
export async function serveFromCommandLine(start) {
  const { stop, ...server } = await start(JSON.parse(process.argv[2] ?? '{}'));
  console.log(JSON.stringify(server));
  const end = () => stop().then(() => process.exit(0));
  process.stdin.once('close', end).once('end', end).resume();
  process.once('SIGTERM', end).once('SIGINT', end);
}
