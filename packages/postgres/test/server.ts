import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A server of a test's own, which it may stop. */
export interface OwnServer {
  readonly url: string;
  stop(): Promise<void>;
}

export function ownServer(options: { readonly port?: number; readonly folder?: string }): Promise<OwnServer> {
  return launch('postgres', { own: true, ...options });
}

/** A PgBouncer in front of the server at `target`, pooling by transaction. */
export function pgBouncer(options: { readonly target: string; readonly poolSize?: number }): Promise<OwnServer> {
  return launch('pgbouncer', options);
}

/** Starts a server by the command that its starter is: what it makes is in a process of its own. */
async function launch(name: string, options: object): Promise<OwnServer> {
  const starter = join(__dirname, '..', '..', '..', 'scripts', 'servers', `${name}.mjs`);
  const child: ChildProcess = spawn(process.execPath, [starter, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  const line = await Promise.race([once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data'), gone]);
  if (typeof line[0] === 'number') throw new Error(`${name} did not start; why stands above.`);
  const { url } = JSON.parse(String(line[0])) as { url: string };
  return {
    url,
    async stop() {
      child.stdin?.end();
      await gone;
    },
  };
}
