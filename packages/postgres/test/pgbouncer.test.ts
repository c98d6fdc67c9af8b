import { type PostgresStore, postgresStore } from '@factuarea-webhook/postgres';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Pool, type PoolClient } from 'pg';
import { type OwnServer, pgBouncer } from './server.ts';
import { lifetimes, own, place, receiving, until, url } from './support.ts';

// PgBouncer passes no `options` on, so the tables are named with their schema.
let here: Awaited<ReturnType<typeof place>>;
let direct: Pool;
let many: OwnServer;
let single: OwnServer;
const pools: Pool[] = [];

beforeAll(async () => {
  here = await place();
  direct = here.pool();
  await direct.query('CREATE TABLE effects (id text NOT NULL)');
  [many, single] = await Promise.all([
    pgBouncer({ target: url, poolSize: 8 }),
    pgBouncer({ target: url, poolSize: 1 }),
  ]);
});
afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.end())));
afterAll(async () => {
  await Promise.all([many.stop(), single.stop()]);
  await here.close();
});

function poolOf(server: OwnServer, max = 10): Pool {
  const pool = new Pool({ connectionString: server.url, connectionTimeoutMillis: 2000, max });
  pools.push(pool);
  return pool;
}

async function effects(id: string): Promise<number> {
  return (await direct.query('SELECT count(*)::int AS count FROM effects WHERE id = $1', [id])).rows[0].count;
}

/** What a session may keep, and which session it is. */
async function session(pool: Pool): Promise<Record<string, unknown>> {
  const { rows } = await pool.query(`SELECT pg_backend_pid() AS pid,
    (SELECT json_agg(name || '=' || setting ORDER BY name) FROM pg_settings WHERE source = 'session') AS settings,
    (SELECT count(*)::int FROM pg_prepared_statements WHERE name <> '') AS statements,
    (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks,
    (SELECT count(*)::int FROM pg_listening_channels()) AS channels,
    (SELECT count(*)::int FROM pg_class WHERE relpersistence = 't') AS temporary`);
  return rows[0];
}

describe.each(['transaction', 'lease'] as const)('through PgBouncer that pools by transaction, mode %s', (mode) => {
  const table = (): string => `${here.schema}.bounced_${mode}`;
  const storeOn = (pool: Pool): PostgresStore<PoolClient | undefined> => postgresStore(pool, { mode, table: table() });

  beforeAll(async () => {
    const pool = poolOf(many);
    await storeOn(pool).migrate();
    await Promise.all(pools.splice(0).map((one) => one.end()));
  });

  test('copies at the same moment from two pools: one effect, the others 503, then repeats', async () => {
    const two = [poolOf(many), poolOf(many)].map((pool) =>
      receiving<PoolClient | undefined>({
        store: storeOn(pool),
        cache: false,
        async handler({ id }, { tx }) {
          await (tx ?? direct).query(`INSERT INTO ${here.schema}.effects VALUES ($1)`, [id]);
          await new Promise((resolve) => setTimeout(resolve, 50));
        },
      }),
    );
    for (let round = 0; round < 5; round++) {
      const id = `copies_${mode}_${round}`;
      const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => two[at % 2]?.(id)));
      const codes = answers.map((answer) => answer?.code).sort();
      expect(answers.filter((answer) => answer?.error)).toEqual([]);
      expect(codes.filter((code) => code === 'handled')).toHaveLength(1);
      expect(new Set(codes.filter((code) => code !== 'handled' && code !== 'repeat'))).toEqual(
        new Set(['in_progress']),
      );
      for (const post of two) expect(await post(id)).toMatchObject({ status: 200, code: 'repeat' });
      expect(await effects(id)).toBe(1);
    }
  });

  test('leaves nothing behind in the session that the next client gets', async () => {
    const [store, other] = [storeOn(poolOf(single, 1)), poolOf(single, 1)];
    const before = await session(other);
    await (await own(store.claim('first', lifetimes))).release();
    await (await own(store.claim('first', lifetimes))).done();
    expect(await store.claim('first', lifetimes)).toEqual({ state: 'done' });
    if (mode === 'lease') await (await own(store.claim('second', lifetimes))).extend?.(1000);
    await store.forget('first');
    await store.prune({ olderThan: new Date() });
    await store.stats();
    expect(await session(other)).toEqual(before);
    expect(before).toMatchObject({ settings: null, statements: 0, locks: 0 });
  });

  test('a claim that a lock keeps waiting ends in time, and leaves no limit behind', async () => {
    const [pool, other] = [poolOf(single, 1), poolOf(single, 1)];
    const store = storeOn(pool);
    const before = await session(other);
    const blocker = await direct.connect();
    await blocker.query(`BEGIN; LOCK TABLE ${table()} IN ACCESS EXCLUSIVE MODE`);
    // One that knows the table: its columns cannot be looked at either while it is locked.
    const startedAt = performance.now();
    await expect(store.claim('locked', { ...lifetimes, timeoutMs: 400 })).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    expect(performance.now() - startedAt).toBeLessThan(1500);
    await blocker.query('ROLLBACK');
    blocker.release();
    await (await own(store.claim('locked', lifetimes))).done();
    const { pid: _, ...kept } = before;
    expect(await session(other)).toMatchObject(kept);
  });

  if (mode === 'transaction') {
    test('what is abandoned never commits, and its id is free again', async () => {
      const store = storeOn(poolOf(many));
      const claim = await own(store.claim('abandoned', lifetimes));
      await claim.tx?.query(`INSERT INTO ${here.schema}.effects VALUES ('abandoned')`);
      await claim.abandon?.();
      const next = await until(async () => {
        const again = await store.claim('abandoned', lifetimes);
        return again.state === 'mine' && again;
      });
      await next.done();
      expect(await effects('abandoned')).toBe(0);
    });

    test('a handler’s own limits and locks end with its transaction', async () => {
      const [store, other] = [storeOn(poolOf(single, 1)), poolOf(single, 1)];
      const before = await session(other);
      const claim = await own(store.claim('limits', lifetimes));
      await claim.tx?.query("SELECT pg_advisory_xact_lock(1), set_config('work_mem', '8MB', true)");
      await claim.done();
      expect(await session(other)).toEqual(before);
    });
  }
});
