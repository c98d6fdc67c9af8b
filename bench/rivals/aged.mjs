/** Stores that can be given ids which were done 100 days ago, so that there is something to prune. */
import { mysqlStore } from '@factuarea-webhook/mysql';
import { postgresStore } from '@factuarea-webhook/postgres';
import { sqliteStore } from '@factuarea-webhook/sqlite';
import Sqlite from 'libsql';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { start as startMariadb } from '../../scripts/servers/mariadb.mjs';
import { start as startPostgres } from '../../scripts/servers/postgres.mjs';
import { temporaryFile } from './shortest.mjs';

/** `start()` gives a server; `open(url)` the store, `age(count)`, which adds so many old ids, and `close()`. */
export const kinds = {
  postgres: { start: startPostgres, open: (url) => openPostgres(url, 'transaction') },
  'postgres-lease': { start: startPostgres, open: (url) => openPostgres(url, 'lease') },
  mysql: { start: startMariadb, open: (url) => openMysql(url, 'transaction') },
  'mysql-lease': { start: startMariadb, open: (url) => openMysql(url, 'lease') },
  sqlite: { start: temporaryFile, open: (file) => openSqlite(file, 'lease') },
  'sqlite-transaction': { start: temporaryFile, open: (file) => openSqlite(file, 'transaction') },
};

async function openPostgres(url, mode) {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  const table = `aged_${mode}`;
  const store = postgresStore(pool, { mode, table });
  await store.migrate();
  const at = "now() - interval '100 days'";
  const lease = mode === 'lease' ? `, ${at}, true, 1` : '';
  return {
    store,
    age: (count) =>
      pool.query(`INSERT INTO ${table} SELECT gen_random_uuid(), ${at}${lease} FROM generate_series(1, ${count})`),
    close: () => pool.end(),
  };
}

async function openMysql(url, mode) {
  const pool = createPool({ uri: url, connectionLimit: 4 });
  const table = `aged_${mode}`;
  const store = mysqlStore(pool, { mode, table });
  await store.migrate();
  const at = 'UTC_TIMESTAMP(6) - INTERVAL 100 DAY';
  const [columns, values] = mode === 'lease' ? [', until, done, fence, token', `, ${at}, 1, 1, 'x'`] : ['', ''];
  const digits = Array.from({ length: 10 }, (_, digit) => `SELECT ${digit}`).join(' UNION ALL ');
  const numbers = ['a', 'b', 'c', 'd', 'e'].map((name) => `(${digits}) AS ${name}`).join(', ');
  return {
    store,
    age: (count) =>
      pool.query(`INSERT INTO ${table} (event_id, received_at${columns})
        SELECT UUID(), ${at}${values} FROM ${numbers} LIMIT ${count}`),
    close: () => pool.end(),
  };
}

async function openSqlite(file, mode) {
  const database = new Sqlite(file);
  const table = `aged_${mode}`;
  const store = sqliteStore(() => new Sqlite(file), { mode, table });
  await store.migrate();
  return {
    store,
    async age(count) {
      const done = Date.now() - 100 * 86_400_000;
      database
        .prepare(
          `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
           INSERT INTO ${table} (event_id, token, leased_until, done_at)
           SELECT lower(hex(randomblob(16))), 't', 0, ? FROM n`,
        )
        .run(count, done);
    },
    async close() {
      database.close();
      await store.close();
    },
  };
}
