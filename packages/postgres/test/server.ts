import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A server of a test's own, which it may stop. */
export interface OwnServer {
  readonly url: string;
  stop(): Promise<void>;
}

const starter = join(__dirname, '..', '..', '..', 'scripts', 'servers', 'postgres.mjs');

/** Starts the server by the command that the starter is: what it makes is in a process of its own. */
export async function ownServer(options: { readonly port?: number; readonly folder?: string }): Promise<OwnServer> {
  const child: ChildProcess = spawn(process.execPath, [starter, JSON.stringify({ own: true, ...options })], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  const line = await Promise.race([once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data'), gone]);
  const { url } = JSON.parse(String(line[0])) as { url: string };
  return {
    url,
    async stop() {
      child.stdin?.end();
      await gone;
    },
  };
}
