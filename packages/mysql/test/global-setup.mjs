import { start } from '../../../scripts/servers/mariadb.mjs';

/** One MariaDB for the whole package, whose address the tests find in `TEST_MYSQL_URL`. */
export default async function setup() {
  // Nothing here has to outlive the machine.
  const server = await start({ args: ['--innodb-flush-log-at-trx-commit=0', '--innodb-doublewrite=0'] });
  process.env.TEST_MYSQL_URL = server.url;
  globalThis.stopMysql = server.stop;
}
