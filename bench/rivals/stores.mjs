import { verifyByHand } from './recipe.mjs';

/** For a store URL: the guide's recipe written by hand, and our store with the same handler. */
export async function stores(url) {
  const kind = url.split(':', 1)[0];
  if (kind === 'memory') return inMemory();
  if (kind === 'postgres' || kind === 'postgresql') return inPostgres(url);
  throw new Error(`No rival is written for ${kind}.`);
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
  };
}

async function inPostgres(url) {
  const { default: pg } = await import('pg');
  const { postgresStore } = await import('@factuarea-webhook/postgres');
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  pool.on('error', () => {});
  await pool.query('CREATE TABLE IF NOT EXISTS effects (event_id text NOT NULL)');
  await pool.query(
    'CREATE TABLE IF NOT EXISTS recipe_events (event_id CHAR(36) NOT NULL PRIMARY KEY, received_at TIMESTAMP NOT NULL)',
  );
  const store = postgresStore(pool);
  await store.migrate();
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
  };
}
