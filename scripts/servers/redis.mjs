/** Starts a private Redis: memory only, on a free port of 127.0.0.1, in a temporary folder. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePort, listens, needProgram, runServer, serveFromCommandLine, temporaryFolder } from './process.mjs';

/**
 * `TEST_REDIS_URL` is used where it is set. `own: true` starts a private one all the same, for tests that stop it.
 *
 * @param {{ own?: boolean, port?: number, args?: string[], config?: string }} options `args` go to redis-server as they
 *   stand; `config` is the text of a configuration file, which Sentinel wants to have.
 * @returns {Promise<{ url: string, pid?: number, stop(): Promise<void> }>}
 */
export async function start({ own = false, port, args = [], config } = {}) {
  const { TEST_REDIS_URL: given } = process.env;
  if (given && !own) return { url: given, async stop() {} };
  const program = needProgram({ names: ['redis-server'], aptPackage: 'redis-server', variable: 'TEST_REDIS_URL' });
  const folder = await temporaryFolder('redis');
  const used = port ?? (await freePort());
  const settings = ['--port', used, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
  const file = join(folder, 'redis.conf');
  if (config !== undefined) await writeFile(file, config);
  const server = await runServer({
    program,
    args: [...(config === undefined ? [] : [file]), ...settings.map(String), ...args],
    folder,
    ready: () => listens(used),
  });
  return { url: `redis://127.0.0.1:${used}`, ...server };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await serveFromCommandLine(start);
