import { postgresStore } from '@factuarea-webhook/postgres';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Pool } from 'pg';
import { lifetimes, own, type Place, place, until } from './support.ts';

let here: Place;
let pool: Pool;

beforeAll(async () => {
  here = await place();
  pool = here.pool();
});
afterAll(() => here.close());

describe.each(['transaction', 'lease'] as const)('mode %s', (mode) => {
  const table = `pruned_${mode}`;

  test('four prunings at once while claims go on: no deadlock, nothing live is removed, and each row goes once', async () => {
    const store = postgresStore(pool, { mode, table });
    await store.migrate();
    await pool.query(
      mode === 'lease'
        ? `INSERT INTO ${table} SELECT 'old ' || n, now() - interval '100 days', now() - interval '100 days', true, 1
           FROM generate_series(1, 20000) n`
        : `INSERT INTO ${table} SELECT 'old ' || n, now() - interval '100 days' FROM generate_series(1, 20000) n`,
    );
    const held = await own(store.claim('held', lifetimes));
    await (await own(store.claim('young', lifetimes))).done();
    const pruners = Array.from({ length: 4 }, () => postgresStore(here.pool({ max: 2 }), { mode, table }));
    let pruning = true;
    const pruned = Promise.all(pruners.map((one) => one.prune({ batchSize: 500 }))).finally(() => {
      pruning = false;
    });
    let claims = 0;
    while (pruning) {
      const claim = await own(store.claim(`new ${claims}`, lifetimes));
      expect(await claim.done()).toBe(true);
      // The old ids are forgotten one after the other, and until then each of them is known.
      const old = await store.claim(`old ${claims + 1}`, lifetimes);
      if (old.state === 'mine') await old.done();
      claims++;
    }
    expect((await pruned).reduce((sum, count) => sum + count, 0)).toBe(20_000);
    expect(claims).toBeGreaterThan(0);
    expect(await held.done()).toBe(true);
    for (const id of ['held', 'young', 'new 0', `new ${claims - 1}`]) {
      expect(await store.claim(id, lifetimes)).toEqual({ state: 'done' });
    }
  }, 60_000);

  test('a pruning searches the index and locks nothing that it does not delete', async () => {
    const store = postgresStore(pool, { mode, table });
    await pool.query(`ANALYZE ${table}`);
    expect(await store.prune({ olderThan: new Date('2020-01-01') })).toBe(0);
    const { rows } = await pool.query(
      `EXPLAIN SELECT event_id FROM ${table} WHERE received_at < CURRENT_TIMESTAMP - interval '90 days'
       ORDER BY received_at LIMIT 1000 FOR UPDATE SKIP LOCKED`,
    );
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain(`${table}_received_at_idx`);
  });
});

test('settling a lease touches no index', async () => {
  const store = postgresStore(pool, { mode: 'lease', table: 'hot' });
  await store.migrate();
  for (let id = 0; id < 50; id++) {
    const claim = await own(store.claim(`evt_${id}`, lifetimes));
    await claim.extend?.(1000);
    await claim.release();
    await (await own(store.claim(`evt_${id}`, lifetimes))).done();
  }
  // Sessions hand their statistics in when they end.
  await pool.end();
  const other = here.pool();
  const counts = await until(async () => {
    const { rows } = await other.query(
      "SELECT n_tup_upd::int AS updated, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables WHERE relid = 'hot'::regclass",
    );
    return rows[0].updated >= 200 && rows[0];
  });
  expect(counts.hot).toBe(counts.updated);
});
