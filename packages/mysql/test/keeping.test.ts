import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Pool } from 'mysql2/promise';
import { type MysqlStore, mysqlStore } from '../src/index.ts';
import { connect, freshTable, lifetimes, own, until } from './support.ts';

const HOUR_MS = 3_600_000;
const later = new Date('2100-01-01');

describe.each(['transaction', 'lease'] as const)('what is kept in mode %s', (mode) => {
  const pools: Pool[] = [];
  let pool: Pool;
  let table: string;
  let store: MysqlStore<unknown>;

  function storeOn(on: Pool): MysqlStore<unknown> {
    pools.push(on);
    return mysqlStore(on, { mode, table });
  }

  beforeEach(async () => {
    table = freshTable();
    pool = connect();
    store = storeOn(pool);
    await store.migrate();
  });

  afterEach(async () => {
    jest.useRealTimers();
    await Promise.all(pools.splice(0).map((one) => one.end()));
  });

  async function count(): Promise<number> {
    const [rows] = await pool.query(`SELECT COUNT(*) AS count FROM ${table}`);
    return (rows as { count: number }[])[0]?.count ?? -1;
  }

  /** Fills the table with ids that were done `days` ago. */
  async function fill(rows: number, days: number): Promise<void> {
    const [columns, values] =
      mode === 'lease'
        ? [', until, done, fence, token', ", UTC_TIMESTAMP(6) - INTERVAL seq.days DAY, 1, 1, 'x'"]
        : ['', ''];
    const at = mode === 'lease' ? 'UTC_TIMESTAMP(6)' : 'NOW()';
    const numbers = Array.from({ length: rows }, (_, n) => `SELECT ${n} AS n, ${days} AS days`).join(' UNION ALL ');
    await pool.query(
      `INSERT INTO ${table} (event_id, received_at${columns}) SELECT CONCAT('old-', ${days}, '-', n), ${at} - INTERVAL seq.days DAY${values} FROM (${numbers}) AS seq`,
    );
  }

  test('migrate is safe from many processes at once, and again', async () => {
    const fresh = freshTable();
    const stores = Array.from({ length: 6 }, () => {
      const on = connect();
      pools.push(on);
      return mysqlStore(on, { mode, table: fresh });
    });
    await Promise.all(stores.map((one) => one.migrate()));
    await Promise.all(stores.map((one) => one.migrate()));
    expect((await stores[0]?.claim('a', lifetimes))?.state).toBe('mine');
  });

  test('migrate adds the index that a table lacks', async () => {
    await pool.query(`ALTER TABLE ${table} DROP KEY received_at`);
    await store.migrate();
    const [keys] = await pool.query(`SHOW INDEX FROM ${table} WHERE Column_name = 'received_at'`);
    expect(keys).toHaveLength(1);
  });

  test('a table of the other mode, and a table with columns missing, are told', async () => {
    const fresh = freshTable();
    const other =
      mode === 'lease' ? mysqlStore(pool, { table: fresh }) : mysqlStore(pool, { mode: 'lease', table: fresh });
    await other.migrate();
    const wrong = mysqlStore(pool, { mode, table: fresh });
    for (const call of [() => wrong.claim('a', lifetimes), () => wrong.migrate()]) {
      await expect(call()).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('a table of its own'),
      });
    }
  });

  test('a table in another database, with a name that needs quoting', async () => {
    const [schema, name] = [freshTable('other-db'), 'select'];
    await pool.query(`CREATE DATABASE \`${schema}\``);
    const named = mysqlStore(pool, { mode, table: `${schema}.${name}` });
    await named.migrate();
    await own(await named.claim('a', lifetimes)).done();
    expect(await named.claim('a', lifetimes)).toEqual({ state: 'done' });
    expect((await store.claim('a', lifetimes)).state).toBe('mine');
    await pool.query(`DROP DATABASE \`${schema}\``);
  });

  test('stats count what is done, per day', async () => {
    await fill(3, 10);
    await fill(2, 100);
    await own(await store.claim('now', lifetimes)).done();
    const running = own(await store.claim('running', lifetimes));
    const { count: ids, oldest, newest, byDay } = await store.stats();
    await running.release();
    expect(ids).toBe(6);
    expect(Math.abs(Number(oldest) - (Date.now() - 100 * 24 * HOUR_MS))).toBeLessThan(2 * HOUR_MS);
    expect(Math.abs(Number(newest) - Date.now())).toBeLessThan(60_000);
    expect(Object.values(byDay)).toEqual([2, 3, 1]);
  });

  test('prune keeps the longest retention that claims have named, or 90 days', async () => {
    await fill(1500, 100);
    await fill(20, 60);
    expect(await store.prune({ batchSize: 400 })).toBe(1500);
    expect(await count()).toBe(20);
    await own(await store.claim('a', { ...lifetimes, retentionMs: 30 * 24 * HOUR_MS })).done();
    expect(await store.prune()).toBe(20);
    expect(await store.prune({ olderThan: new Date(Date.now() - HOUR_MS) })).toBe(0);
    await until(async () => (await store.prune({ olderThan: later })) === 1);
  });

  test('a scheduled pruning runs until the store is closed', async () => {
    await fill(10, 100);
    store.schedulePrune({ every: 1 });
    await until(async () => (await count()) === 0);
    await store.close();
    await fill(10, 100);
    await new Promise((resolve) => setTimeout(resolve, 1300));
    expect(await count()).toBe(10);
  });

  test('a client’s clock that is hours off, or stepping, changes nothing', async () => {
    const real = Date.now();
    await fill(1, 100);
    for (const offset of [HOUR_MS, -HOUR_MS, 200 * 24 * HOUR_MS]) {
      jest.useFakeTimers({
        now: real + offset,
        doNotFake: [
          'hrtime',
          'nextTick',
          'performance',
          'queueMicrotask',
          'setImmediate',
          'setInterval',
          'setTimeout',
          'clearImmediate',
          'clearInterval',
          'clearTimeout',
        ],
      });
      const id = `clock-${offset}`;
      const first = own(await store.claim(id, { ...lifetimes, leaseMs: 400 }));
      expect((await store.claim(id, lifetimes)).state).toBe('busy');
      jest.setSystemTime(real - offset);
      expect((await store.claim(id, lifetimes)).state).toBe('busy');
      if (mode === 'transaction') expect(await first.done()).toBe(true);
      else {
        await until(async () => {
          const next = await store.claim(id, lifetimes);
          return next.state === 'mine' && next.done();
        });
        expect(await first.done()).toBe(false);
      }
      expect(await store.prune()).toBe(offset === HOUR_MS ? 1 : 0);
      expect(await store.claim(id, lifetimes)).toEqual({ state: 'done' });
    }
  });

  test('a session whose autocommit is off, and whose isolation is the strictest', async () => {
    const odd = connect();
    odd.on('connection', (connection) => {
      connection.query('SET SESSION autocommit = 0');
      connection.query('SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE');
    });
    const strict = storeOn(odd);
    await own(await strict.claim('a', lifetimes)).done();
    expect(await store.claim('a', lifetimes)).toEqual({ state: 'done' });
    await own(await strict.claim('b', lifetimes)).release();
    await own(await store.claim('b', lifetimes)).done();
    expect(await strict.claim('b', lifetimes)).toEqual({ state: 'done' });
    expect(await strict.forget('a')).toBe(true);
    expect(own(await store.claim('a', lifetimes)).fence).toBeGreaterThan(0);
  });
});

test('leases need a column that tells ids apart', async () => {
  const pool = connect();
  const table = freshTable();
  const store = mysqlStore(pool, { mode: 'lease', table });
  await pool.query(store.schema.replace('utf8mb4_bin', 'utf8mb4_general_ci'));
  await expect(store.claim('a', lifetimes)).rejects.toThrow('it needs a binary collation');
  await pool.query(
    `ALTER TABLE ${table} MODIFY event_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL`,
  );
  expect((await store.claim('a', lifetimes)).state).toBe('mine');
  await pool.end();
});
