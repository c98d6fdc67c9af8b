// @ts-check
import { mysqlStore } from '@factuarea-webhook/mysql';
import mysql from 'mysql2/promise';

/** @type {import('../store.js').Open} */
export async function open(url) {
  const pool = mysql.createPool(url);
  const store = mysqlStore(pool);
  await store.migrate();
  await pool.query(
    'CREATE TABLE IF NOT EXISTS handled (n BIGINT AUTO_INCREMENT PRIMARY KEY, id VARCHAR(255) NOT NULL, type VARCHAR(255) NOT NULL, resource VARCHAR(255), endpoint VARCHAR(255), at VARCHAR(40) NOT NULL) CHARACTER SET utf8mb4',
  );
  return {
    store,
    handled: {
      // Through `tx`: the line and the mark of the event commit together, or not at all.
      add: ({ id, type, resource, endpoint, at }, tx) =>
        /** @type {mysql.PoolConnection} */ (tx).query(
          'INSERT INTO handled (id, type, resource, endpoint, at) VALUES (?, ?, ?, ?, ?)',
          [id, type, resource, endpoint, at],
        ),
      async list() {
        const [rows] = await pool.query('SELECT id, type, resource, endpoint, at FROM handled ORDER BY n');
        return /** @type {import('../store.js').Entry[]} */ (rows);
      },
    },
    close: () => pool.end(),
  };
}
