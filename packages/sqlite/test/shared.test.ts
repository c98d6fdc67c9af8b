import type { ClaimOptions, OwnClaim, Store } from '@factuarea-webhook/core';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type SqliteDatabase, type SqliteStore, sqliteStore } from '../src/index.ts';
import { drivers, temporaryFile } from './drivers.ts';

const lifetimes: ClaimOptions = { leaseMs: 15_000, retentionMs: 90 * 86_400_000 };

async function own(store: Store, id: string, more: Partial<ClaimOptions> = {}): Promise<OwnClaim> {
  const claim = await store.claim(id, { ...lifetimes, ...more });
  expect(claim.state).toBe('mine');
  return claim as OwnClaim;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The longest time for which the process did nothing else while `work` went on, in milliseconds. */
async function longestBlock(work: Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  await work;
  clearInterval(timer);
  return longest;
}

describe.each(drivers)('a database that the app and the store share, on $name', ({ open }) => {
  let path: string;
  let remove: () => void;
  let database: SqliteDatabase;
  let store: SqliteStore;
  const ask = (sql: string): unknown => Object.values(database.prepare(sql).all()[0] as object)[0];

  beforeEach(() => {
    ({ path, remove } = temporaryFile());
    database = open(path);
    store = sqliteStore(database);
  });

  afterEach(async () => {
    await store.close();
    database.close();
    remove();
  });

  test('works with nothing but the database, and makes its table by itself', async () => {
    expect(await (await own(store, 'a')).done()).toBe(true);
    expect(await store.claim('a', lifetimes)).toEqual({ state: 'done' });
    expect(ask('PRAGMA journal_mode')).toBe('wal');
  });

  test('has the app’s own settings again after each call', async () => {
    database.exec('PRAGMA busy_timeout = 4321');
    database.exec('PRAGMA synchronous = NORMAL');
    const settings = (): unknown[] => [ask('PRAGMA busy_timeout'), ask('PRAGMA synchronous')];
    const claim = await own(store, 'a');
    expect(settings()).toEqual([4321, 1]);
    await claim.done();
    expect(settings()).toEqual([4321, 1]);
    const blocker = open(path);
    blocker.exec('BEGIN IMMEDIATE');
    await expect(store.claim('b', { ...lifetimes, timeoutMs: 50 })).rejects.toThrow('locked');
    expect(settings()).toEqual([4321, 1]);
    blocker.close();
  });

  test('keeps a journal mode that was chosen', async () => {
    database.exec('PRAGMA journal_mode = TRUNCATE');
    await (await own(store, 'a')).done();
    expect(ask('PRAGMA journal_mode')).toBe('truncate');
  });

  test('a file that stays locked is told in time, and the process is not held up meanwhile', async () => {
    await store.migrate();
    const blocker = open(path);
    blocker.exec('BEGIN IMMEDIATE');
    const askedAt = performance.now();
    const claiming = store.claim('a', { ...lifetimes, timeoutMs: 1000 });
    const refused = expect(claiming).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('another connection is writing'),
    });
    // A wait inside SQLite would block for all of the 750 ms; a loaded machine needs some time for itself.
    expect(await longestBlock(claiming.catch(() => {}))).toBeLessThan(500);
    await refused;
    const waited = performance.now() - askedAt;
    expect(waited).toBeGreaterThan(700);
    expect(waited).toBeLessThan(2000);
    blocker.exec('ROLLBACK');
    blocker.close();
    await own(store, 'a');
  });

  test('a lock that goes in time is waited for, by the mark as well', async () => {
    const claim = await own(store, 'a');
    const blocker = open(path);
    blocker.exec('BEGIN IMMEDIATE');
    const marking = claim.done();
    await pause(100);
    blocker.exec('COMMIT');
    blocker.close();
    expect(await marking).toBe(true);
  });

  test('repeats and copies are answered while another connection writes', async () => {
    await (await own(store, 'done')).done();
    await own(store, 'held');
    const blocker = open(path);
    blocker.exec('BEGIN IMMEDIATE');
    expect(await store.claim('done', { ...lifetimes, timeoutMs: 50 })).toEqual({ state: 'done' });
    expect(await store.claim('held', { ...lifetimes, timeoutMs: 50 })).toMatchObject({ state: 'busy' });
    blocker.close();
  });

  test('nothing is written into a transaction that the app has left open', async () => {
    await store.migrate();
    database.exec('BEGIN');
    await expect(store.claim('a', { ...lifetimes, timeoutMs: 60 })).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('transaction or a query open'),
    });
    const claiming = own(store, 'b');
    await pause(30);
    database.exec('ROLLBACK');
    await claiming;
    expect(await store.claim('b', lifetimes)).toMatchObject({ state: 'busy' });
  });

  test('is durable, whatever the app has chosen for its own commits', async () => {
    database.exec('PRAGMA synchronous = OFF');
    const levels: unknown[] = [];
    const watching: SqliteDatabase = {
      prepare: (sql) => database.prepare(sql),
      exec(sql) {
        if (sql === 'COMMIT') levels.push(ask('PRAGMA synchronous'));
        return database.exec(sql);
      },
      close: () => database.close(),
    };
    const claim = await own(sqliteStore(watching), 'a');
    await claim.done();
    // The table, the claim, the mark. 2 is FULL.
    expect(levels).toEqual([2, 2, 2]);
  });

  test('leaves the database open when it is closed, and closes what it has opened itself', async () => {
    await store.close();
    expect(ask('SELECT 1')).toBe(1);
    const opened: SqliteDatabase[] = [];
    const of = sqliteStore(() => {
      const one = open(path);
      opened.push(one);
      return one;
    });
    await own(of, 'a');
    await of.close();
    expect(opened).toHaveLength(1);
    expect(() => opened[0]?.prepare('SELECT 1').all()).toThrow();
    await expect(of.claim('b', lifetimes)).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  test('a schedule ends with the store', async () => {
    jest.useFakeTimers();
    try {
      let prunings = 0;
      const watching: SqliteDatabase = {
        prepare(sql) {
          if (sql.startsWith('DELETE')) prunings++;
          return database.prepare(sql);
        },
        exec: (sql) => database.exec(sql),
        close() {},
      };
      const scheduled = sqliteStore(watching);
      scheduled.schedulePrune({ every: 10 });
      await jest.advanceTimersByTimeAsync(12_000);
      expect(prunings).toBe(1);
      await scheduled.close();
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  test('the clock of the process is nothing to it', async () => {
    const real = Date.now;
    try {
      for (const hours of [1, -1]) {
        const claim = await own(store, `at ${hours}`);
        Date.now = () => real() + hours * 3_600_000;
        const other = await store.claim(`at ${hours}`, lifetimes);
        expect(other).toMatchObject({ state: 'busy' });
        expect((other as { retryAfterMs: number }).retryAfterMs).toBeLessThanOrEqual(lifetimes.leaseMs);
        expect(await claim.done()).toBe(true);
        expect(await store.prune()).toBe(0);
      }
    } finally {
      Date.now = real;
    }
  });

  test('ids are found when the driver gives whole numbers as bigints', async () => {
    const all = (sql: string, values: (string | number)[]): unknown[] =>
      database
        .prepare(sql)
        .all(...values)
        .map((row) => Object.fromEntries(Object.entries(row as object).map(([name, value]) => [name, big(value)])));
    const big = (value: unknown): unknown => (Number.isInteger(value) ? BigInt(value as number) : value);
    const bigints = sqliteStore({
      prepare: (sql) => ({
        run: (...values) => {
          const { changes, lastInsertRowid } = database.prepare(sql).run(...values);
          return { changes: BigInt(changes), lastInsertRowid: BigInt(lastInsertRowid) };
        },
        all: (...values) => all(sql, values),
      }),
      exec: (sql) => database.exec(sql),
      close() {},
    });
    const claim = await own(bigints, 'a');
    expect(typeof claim.fence).toBe('number');
    expect(await bigints.claim('a', lifetimes)).toMatchObject({ state: 'busy', retryAfterMs: expect.any(Number) });
    expect(await claim.extend?.(20_000)).toBe(true);
    expect(await claim.done()).toBe(true);
    expect(await bigints.claim('a', lifetimes)).toEqual({ state: 'done' });
    expect(await bigints.stats()).toMatchObject({ count: 1 });
  });
});
