import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Gives the STORE_URL for the demo, starting a private server where the kind needs one and none is named. */
export async function storeFor(kind, say) {
  const folder = await mkdtemp(join(tmpdir(), 'factuarea-demo-'));
  const clean = () => rm(folder, { recursive: true, force: true });
  if (kind === 'sqlite') return { storeUrl: `sqlite:${join(folder, 'ids.sqlite')}`, stop: clean };
  await clean();
  if (/^\w+:\/\//.test(kind)) return { storeUrl: kind, stop: async () => {} };
  const starter = servers[kind];
  if (!starter) {
    throw new Error(`--store takes sqlite, ${Object.keys(servers).join(', ')}, or the URL of one of these.`);
  }
  say(`starting a private ${kind} server`);
  const { start } = await import(starter);
  const server = await start();
  return { storeUrl: server.url, stop: () => server.stop() };
}

const servers = {
  postgres: '../servers/postgres.mjs',
  redis: '../servers/redis.mjs',
  mysql: '../servers/mariadb.mjs',
};
