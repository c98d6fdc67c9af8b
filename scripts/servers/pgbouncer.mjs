/** Starts a private PgBouncer in front of a Postgres: pools by transaction, on a free port of 127.0.0.1. */
import { spawnSync } from 'node:child_process';
import { chmod, chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePort, listens, needProgram, runServer, serveFromCommandLine, temporaryFolder } from './process.mjs';

/**
 * @param {{ target: string, poolSize?: number, settings?: Record<string, string | number> }} options `target` is the URL
 *   of the Postgres. `poolSize` is the number of its connections for each database. `settings` are PgBouncer's own.
 * @returns {Promise<{ url: string, pid?: number, stop(): Promise<void> }>} `url` leads to the same database as `target`.
 */
export async function start({ target, poolSize = 20, settings = {} }) {
  const program = needProgram({ names: ['pgbouncer'], aptPackage: 'pgbouncer' });
  const { hostname, port, username, password, pathname } = new URL(target);
  const folder = await temporaryFolder('pgbouncer');
  const used = await freePort();
  const users = join(folder, 'users.txt');
  const config = join(folder, 'pgbouncer.ini');
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: used,
    unix_socket_dir: '',
    pool_mode: 'transaction',
    default_pool_size: poolSize,
    auth_type: 'trust',
    auth_file: users,
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const to = `host=${hostname} port=${port || 5432}`;
  await writeFile(config, `[databases]\n* = ${to}\n\n[pgbouncer]\n${lines.join('\n')}\n`);
  await writeFile(users, `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`);
  // PgBouncer refuses to run as root, so root hands over to a user that every machine has.
  const user = process.getuid?.() === 0 ? nobody() : {};
  if (user.uid !== undefined) for (const path of [folder, config, users]) await chown(path, user.uid, user.gid);
  await chmod(folder, 0o700);
  const server = await runServer({
    program,
    args: ['--quiet', config],
    options: user,
    folder,
    // SIGTERM would, from version 1.23 on, wait until every client has left.
    stopSignal: 'SIGINT',
    ready: () => listens(used),
  });
  return { url: `postgres://${username}${password && `:${password}`}@127.0.0.1:${used}${pathname}`, ...server };
}

function nobody() {
  const id = (flag) => Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await serveFromCommandLine(start);
