import type { ClaimOptions, OwnClaim, Store } from '@factuarea-webhook/core';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type SqliteDatabase, sqliteStore } from '../src/index.ts';
import { libsql, temporaryFile } from './drivers.ts';

const DAY_MS = 86_400_000;
const lifetimes: ClaimOptions = { leaseMs: 15_000, retentionMs: 90 * DAY_MS };

async function finish(store: Store, id: string, more: Partial<ClaimOptions> = {}): Promise<void> {
  const claim = await store.claim(id, { ...lifetimes, ...more });
  expect(claim.state).toBe('mine');
  await (claim as OwnClaim).done();
}

describe('the table', () => {
  let path: string;
  let remove: () => void;
  let database: SqliteDatabase;

  beforeEach(() => {
    ({ path, remove } = temporaryFile());
    database = libsql.open(path);
  });

  afterEach(() => {
    database.close();
    remove();
  });

  /** Writes ids that were done so many days ago. */
  function insertDone(count: number, daysAgo: number, prefix = 'old'): void {
    database
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO factuarea_webhook_events (event_id, token, leased_until, done_at)
         SELECT ? || i, 't', 0, CAST(unixepoch('subsec') * 1000 AS INTEGER) - CAST(? AS INTEGER) FROM n`,
      )
      .run(count, prefix, daysAgo * DAY_MS);
  }

  function count(): number {
    return (database.prepare('SELECT count(*) AS n FROM factuarea_webhook_events').all()[0] as { n: number }).n;
  }

  test('is made once, by any number of connections at once', async () => {
    const stores = Array.from({ length: 8 }, () => sqliteStore(() => libsql.open(path)));
    await Promise.all(stores.map((store) => store.migrate()));
    await Promise.all(stores.map((store) => store.migrate()));
    await Promise.all(stores.map((store, at) => finish(store, `id ${at}`)));
    expect(count()).toBe(8);
    await Promise.all(stores.map((store) => store.close()));
  });

  test('can be made from `schema` by migrations of one’s own', async () => {
    const store = sqliteStore(database, { table: 'app_events' });
    database.exec(store.schema);
    database.exec(store.schema);
    await finish(store, 'a');
    expect(database.prepare('SELECT event_id FROM app_events').all()).toEqual([{ event_id: 'a' }]);
  });

  test('two tables on one database know nothing of each other', async () => {
    const billing = sqliteStore(database, { table: 'billing_events' });
    const shop = sqliteStore(database, { table: 'shop-events' });
    await finish(billing, 'a');
    await finish(shop, 'a');
    expect(await shop.forget('a')).toBe(true);
    expect(await billing.claim('a', lifetimes)).toEqual({ state: 'done' });
  });

  test('may be in a database that was attached, in either mode', async () => {
    const attached = temporaryFile();
    const open = (): SqliteDatabase => {
      const one = libsql.open(path);
      one.exec(`ATTACH '${attached.path}' AS events`);
      return one;
    };
    const store = sqliteStore(open, { table: 'events.done' });
    await finish(store, 'a');
    const transactional = sqliteStore(open, { table: 'events.done', mode: 'transaction' });
    expect(await transactional.claim('a', lifetimes)).toEqual({ state: 'done' });
    await finish(transactional as Store<unknown> as Store, 'b');
    expect(await store.claim('b', lifetimes)).toEqual({ state: 'done' });
    await Promise.all([store.close(), transactional.close()]);
    const other = libsql.open(attached.path);
    expect(other.prepare('SELECT event_id FROM done').all()).toEqual([{ event_id: 'a' }, { event_id: 'b' }]);
    other.close();
    attached.remove();
  });

  test.each(['a b', 'a"b', "a'; DROP TABLE x; --", 'a.b.c', '', 'sqlite?'])('cannot be called %p', (table) => {
    expect(() => sqliteStore(database, { table })).toThrow(expect.objectContaining({ code: 'config_error' }));
  });

  test('of another shape is told as what it is', async () => {
    database.exec('CREATE TABLE factuarea_webhook_events (event_id TEXT PRIMARY KEY, received_at TEXT)');
    await expect(sqliteStore(database).claim('a', lifetimes)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('no such column'),
    });
  });

  test('the fence grows on when the rows are gone', async () => {
    const store = sqliteStore(database);
    const before = (await store.claim('a', lifetimes)) as OwnClaim;
    await before.done();
    database.exec('DELETE FROM factuarea_webhook_events');
    database.exec('VACUUM');
    const after = (await store.claim('a', lifetimes)) as OwnClaim;
    expect(after.fence).toBeGreaterThan(before.fence);
  });

  test('a claim of a table that was made anew settles nothing in it', async () => {
    const store = sqliteStore(database);
    const before = (await store.claim('a', lifetimes)) as OwnClaim;
    database.exec('DROP TABLE factuarea_webhook_events');
    await store.migrate();
    const after = (await store.claim('a', lifetimes)) as OwnClaim;
    expect(after.fence).toBe(before.fence);
    expect(await before.done()).toBe(false);
    await before.release();
    expect(await after.done()).toBe(true);
  });

  test('a pruning keeps 90 days, or the longest retention that a claim has named', async () => {
    const store = sqliteStore(database);
    await store.migrate();
    insertDone(3, 91, 'older');
    insertDone(5, 89, 'newer');
    expect(await store.prune()).toBe(3);
    insertDone(3, 91, 'older');
    await finish(store, 'a', { retentionMs: 365 * DAY_MS });
    await finish(store, 'b', { retentionMs: 7 * DAY_MS });
    expect(await store.prune()).toBe(0);
    const weekly = sqliteStore(database);
    await finish(weekly, 'c', { retentionMs: 7 * DAY_MS });
    expect(await weekly.prune()).toBe(8);
    expect(count()).toBe(3);
  });

  test('a pruning takes leases along that ran out before its moment, and none that has not', async () => {
    const store = sqliteStore(database);
    await store.claim('crashed', { ...lifetimes, leaseMs: 1 });
    await store.claim('running', lifetimes);
    let deleted = 0;
    for (const end = performance.now() + 5000; deleted === 0 && performance.now() < end; ) {
      deleted = await store.prune({ olderThan: new Date('2100-01-01') });
    }
    expect(deleted).toBe(1);
    expect(await store.claim('running', lifetimes)).toMatchObject({ state: 'busy' });
  });

  test('counts what is done, by day', async () => {
    const store = sqliteStore(database);
    expect(await store.stats()).toEqual({ count: 0, oldest: undefined, newest: undefined, byDay: {} });
    insertDone(2, 10, 'x');
    insertDone(3, 3, 'y');
    await store.claim('running', lifetimes);
    const { count: done, oldest, newest, byDay } = await store.stats();
    expect(done).toBe(5);
    expect(Object.values(byDay)).toEqual([2, 3]);
    expect(Object.keys(byDay)).toEqual([oldest, newest].map((date) => date?.toISOString().slice(0, 10)));
    expect(Math.abs(Number(newest) - (Date.now() - 3 * DAY_MS))).toBeLessThan(60_000);
  });
});
