import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, realpath, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { start as mariadb } from '../../../scripts/servers/mariadb.mjs';
import { start as postgres } from '../../../scripts/servers/postgres.mjs';
import { needProgram } from '../../../scripts/servers/process.mjs';
import { start as redis } from '../../../scripts/servers/redis.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** What the tests run on: the command as it is installed, and a server of every kind of store. */
export default async function setup() {
  // Debian's package manager runs once at a time, so what may have to be installed comes one after the other.
  process.env.CHROMIUM ??= needProgram({
    names: ['chromium', 'chromium-browser', 'google-chrome'],
    aptPackage: 'chromium',
    variable: 'CHROMIUM',
  });
  await Promise.all([build(), ...servers.map(startServer)]);
}

// Named apart from the other packages' servers, since jest runs every set-up in one process and tables here are the
// default ones.
const servers = [
  // Nothing here has to outlive the machine.
  ['CLI_POSTGRES_URL', postgres, ['-c', 'fsync=off']],
  ['CLI_REDIS_URL', redis],
  ['CLI_MYSQL_URL', mariadb, ['--innodb-flush-log-at-trx-commit=0', '--innodb-doublewrite=0']],
];

async function startServer([variable, start, args]) {
  const server = await start(args && { args });
  process.env[variable] = server.url;
  globalThis.stopStores = [...(globalThis.stopStores ?? []), server.stop];
}

/**
 * Builds the command and installs it in a folder of its own, with nothing but the files that are published. So the
 * tests run what people run, and a build that goes on elsewhere cannot pull it away under them.
 */
async function build() {
  const turbo = join(root, 'node_modules', 'turbo', 'bin', 'turbo');
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', PATH: `${root}node_modules/.bin:${process.env.PATH}` };
  try {
    const filters = ['@factuarea-webhook/*', '!@factuarea-webhook/next'].flatMap((one) => ['--filter', one]);
    const args = [turbo, 'run', 'build', ...filters];
    await promisify(execFile)(process.execPath, args, { cwd: root, env });
  } catch (error) {
    throw new Error(`The command could not be built:\n${error.stdout ?? ''}${error.stderr ?? error}`);
  }
  const folder = await mkdtemp(join(tmpdir(), 'factuarea-webhook-cli-'));
  const modules = join(folder, 'node_modules');
  for (const name of ['core', 'testing', 'cli', 'sqlite', 'postgres', 'mysql', 'redis']) {
    const from = join(root, 'packages', name);
    const to = join(modules, '@factuarea-webhook', name);
    await mkdir(to, { recursive: true });
    await cp(join(from, 'package.json'), join(to, 'package.json'));
    await cp(join(from, 'dist'), join(to, 'dist'), { recursive: true });
    const { dependencies = {} } = JSON.parse(await readFile(join(to, 'package.json'), 'utf8'));
    for (const dependency of Object.keys(dependencies)) {
      if (dependency.startsWith('@factuarea-webhook/')) continue;
      const link = join(to, 'node_modules', dependency);
      await mkdir(dirname(link), { recursive: true });
      await symlink(await realpath(join(from, 'node_modules', dependency)), link);
    }
  }
  process.env.FACTUAREA_WEBHOOK_CLI = folder;
}
