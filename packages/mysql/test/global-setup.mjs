import { start } from '../../../scripts/servers/mariadb.mjs';

/** One MariaDB for the whole package, whose address the tests find in `TEST_MYSQL_URL`. */
export default async function setup() {
  const server = await start();
  process.env.TEST_MYSQL_URL = server.url;
  globalThis.stopMysql = server.stop;
}
