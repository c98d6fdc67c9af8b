// @ts-check
import { postgresStore } from '@factuarea-webhook/postgres';
import pg from 'pg';

/** @type {import('../store.js').Open} */
export async function open(url) {
  const pool = new pg.Pool({ connectionString: url });
  // Without a listener, a connection that breaks while idle would end the process.
  pool.on('error', (error) => console.error('postgres:', error.message));
  const store = postgresStore(pool);
  await store.migrate();
  await pool.query(
    'CREATE TABLE IF NOT EXISTS handled (n bigserial PRIMARY KEY, id text NOT NULL, type text NOT NULL, resource text, endpoint text, at text NOT NULL)',
  );
  return {
    store,
    handled: {
      // Through `tx`: the line and the mark of the event commit together, or not at all.
      add: ({ id, type, resource, endpoint, at }, tx) =>
        /** @type {pg.PoolClient} */ (tx).query(
          'INSERT INTO handled (id, type, resource, endpoint, at) VALUES ($1, $2, $3, $4, $5)',
          [id, type, resource, endpoint, at],
        ),
      list: async () => (await pool.query('SELECT id, type, resource, endpoint, at FROM handled ORDER BY n')).rows,
    },
    close: () => pool.end(),
  };
}
