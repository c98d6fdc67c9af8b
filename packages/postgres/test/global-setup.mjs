import { start } from '../../../scripts/servers/postgres.mjs';

/** One Postgres for the whole package, whose address the tests find in `TEST_POSTGRES_URL`. */
export default async function setup() {
  // Nothing here has to outlive the machine.
  const server = await start({ args: ['-c', 'fsync=off'] });
  process.env.TEST_POSTGRES_URL = server.url;
  globalThis.stopPostgres = server.stop;
}
