/** Starts a private MariaDB with an empty database `test`, on a free port of 127.0.0.1, in a temporary folder. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePort, listens, needProgram, runServer, serveFromCommandLine, temporaryFolder } from './process.mjs';

/**
 * `TEST_MYSQL_URL` is used where it is set. `own: true` starts a private one all the same, for tests that stop it.
 *
 * @param {{ own?: boolean, port?: number, args?: string[], folder?: string }} options `args` go to mariadbd as they
 *   stand. A `folder` given is kept by `stop()`, so that a later start finds its data.
 * @returns {Promise<{ url: string, pid?: number, stop(): Promise<void> }>}
 */
export async function start({ own = false, port, args = [], folder: kept } = {}) {
  const { TEST_MYSQL_URL: given } = process.env;
  if (given && !own) return { url: given, async stop() {} };
  const wanted = { aptPackage: 'mariadb-server', variable: 'TEST_MYSQL_URL' };
  const program = needProgram({ names: ['mariadbd', 'mysqld'], ...wanted });
  const installer = needProgram({ names: ['mariadb-install-db', 'mysql_install_db'], ...wanted });
  const folder = kept ?? (await temporaryFolder('mariadb'));
  const data = join(folder, 'data');
  // The server refuses to run as root, so root hands over to the user that the package made.
  const user = process.getuid?.() === 0 ? ['--user=mysql'] : [];
  if (user.length) spawnSync('chown', ['mysql', folder]);
  await chmod(folder, 0o755);
  if (!existsSync(data)) {
    const installed = spawnSync(
      installer,
      [
        '--no-defaults',
        ...user,
        `--datadir=${data}`,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
        // A small log is written in a fraction of the time that the default one takes.
        '--innodb-log-file-size=8M',
      ],
      { encoding: 'utf8' },
    );
    if (installed.status !== 0) throw new Error(`${installer} failed.\n${installed.stdout}${installed.stderr}`);
  }
  const init = join(folder, 'init.sql');
  await writeFile(init, 'CREATE DATABASE IF NOT EXISTS test CHARACTER SET utf8mb4;\n', { mode: 0o644 });
  const used = port ?? (await freePort());
  const server = await runServer({
    program,
    args: [
      '--no-defaults',
      ...user,
      `--datadir=${data}`,
      `--port=${used}`,
      '--bind-address=127.0.0.1',
      `--socket=${join(folder, 'socket')}`,
      `--pid-file=${join(folder, 'pid')}`,
      `--init-file=${init}`,
      '--skip-name-resolve',
      '--innodb-log-file-size=8M',
      ...args,
    ],
    folder: kept ? undefined : folder,
    ready: () => listens(used),
  });
  return { url: `mysql://root@127.0.0.1:${used}/test`, ...server };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await serveFromCommandLine(start);
