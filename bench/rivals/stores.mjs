import { verifyByHand } from './recipe.mjs';

/** For a store's address: our store with a handler, and the guide's recipe by hand with the same one. */
export async function contender(url) {
  if (url.startsWith('memory:')) return inMemory();
  if (url.startsWith('postgres:')) return inPostgres(url);
  throw new Error(`No recipe is written for ${url}.`);
}

async function inMemory() {
  const { memoryStore } = await import('@factuarea-webhook/core');
  const seen = new Set();
  const handler = async () => {};
  return {
    store: memoryStore({ maxIds: 1_000_000 }),
    handler,
    async recipe(bytes, signature, secret) {
      const event = verifyByHand(bytes, signature, secret);
      if (!event) return 401;
      if (seen.has(event.id)) return 200;
      try {
        await handler(event);
        seen.add(event.id);
        return 200;
      } catch {
        return 500;
      }
    },
    async close() {},
  };
}

async function inPostgres(url) {
  const { default: pg } = await import('pg');
  const { postgresStore } = await import('@factuarea-webhook/postgres');
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  pool.on('error', () => {});
  const store = postgresStore(pool);
  await store.migrate();
  // Several processes begin at once, and IF NOT EXISTS is no help against that.
  await pool.query(`SELECT pg_advisory_lock(1);
    CREATE TABLE IF NOT EXISTS effects (event_id text NOT NULL);
    CREATE TABLE IF NOT EXISTS recipe_events (event_id CHAR(36) NOT NULL PRIMARY KEY, received_at TIMESTAMP NOT NULL);
    CREATE INDEX IF NOT EXISTS recipe_events_received_at ON recipe_events (received_at);
    SELECT pg_advisory_unlock(1)`);
  const effect = (client, event) => client.query('INSERT INTO effects (event_id) VALUES ($1)', [event.id]);
  return {
    store,
    handler: (event, { tx }) => effect(tx, event),
    async recipe(bytes, signature, secret) {
      const event = verifyByHand(bytes, signature, secret);
      if (!event) return 401;
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        const { rowCount } = await client.query(
          'INSERT INTO recipe_events (event_id, received_at) VALUES ($1, now()) ON CONFLICT DO NOTHING',
          [event.id],
        );
        if (rowCount) await effect(client, event);
        await client.query('COMMIT');
        return 200;
      } catch {
        await client.query('ROLLBACK');
        return 500;
      } finally {
        client.release();
      }
    },
    close: () => pool.end(),
  };
}
