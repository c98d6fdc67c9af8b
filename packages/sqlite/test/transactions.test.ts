import type { ClaimOptions, OwnClaim } from '@factuarea-webhook/core';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type SqliteDatabase, type SqliteStore, sqliteStore } from '../src/index.ts';
import { drivers, libsql, temporaryFile } from './drivers.ts';

const lifetimes: ClaimOptions = { leaseMs: 15_000, retentionMs: 90 * 86_400_000 };

describe.each(drivers)('transaction mode on $name', ({ open }) => {
  let path: string;
  let remove: () => void;
  let database: SqliteDatabase;
  let store: SqliteStore<SqliteDatabase>;
  let opened: SqliteDatabase[];
  let journal: string | undefined;

  beforeEach(() => {
    ({ path, remove } = temporaryFile());
    database = open(path);
    database.exec('CREATE TABLE effects (id TEXT NOT NULL)');
    opened = [];
    journal = undefined;
    store = sqliteStore(
      () => {
        const one = open(path);
        one.exec('PRAGMA foreign_keys = ON');
        if (journal) one.exec(`PRAGMA journal_mode = ${journal}`);
        opened.push(one);
        return one;
      },
      { mode: 'transaction' },
    );
  });

  afterEach(async () => {
    await store.close();
    database.close();
    remove();
  });

  async function own(id: string, more: Partial<ClaimOptions> = {}): Promise<OwnClaim<SqliteDatabase>> {
    const claim = await store.claim(id, { ...lifetimes, ...more });
    expect(claim.state).toBe('mine');
    return claim as OwnClaim<SqliteDatabase>;
  }

  const effects = (): number => database.prepare('SELECT 1 FROM effects').all().length;
  const isOpen = (one: SqliteDatabase | undefined): boolean => {
    try {
      return one !== undefined && one.prepare('SELECT 1').all().length === 1;
    } catch {
      return false;
    }
  };

  test('a claim has a connection of its own, which ends with it', async () => {
    const committed = await own('a');
    committed.tx.exec("INSERT INTO effects VALUES ('a')");
    expect(opened.map(isOpen)).toEqual([true, true]);
    await committed.done();
    const released = await own('b');
    await released.release();
    const abandoned = await own('c');
    await abandoned.abandon?.();
    expect(opened.map(isOpen)).toEqual([true, false, false, false]);
    expect(() => abandoned.tx.exec("INSERT INTO effects VALUES ('late')")).toThrow();
    await store.close();
    expect(opened.map(isOpen)).toEqual([false, false, false, false]);
    expect(effects()).toBe(1);
  });

  test('claims take turns, and one that waits in vain is busy in time', async () => {
    const first = await own('a');
    const askedAt = performance.now();
    expect(await store.claim('b', { ...lifetimes, timeoutMs: 400 })).toEqual({ state: 'busy', retryAfterMs: 1000 });
    expect(performance.now() - askedAt).toBeLessThan(2000);
    expect(await store.claim('a', lifetimes)).toMatchObject({ state: 'busy' });
    const waiting = own('b');
    await first.done();
    await (await waiting).done();
    expect(await store.stats()).toMatchObject({ count: 2 });
  });

  test('a handler that ends the transaction itself is told so', async () => {
    const committing = await own('a');
    committing.tx.exec('COMMIT');
    await expect(committing.done()).rejects.toMatchObject({
      code: 'commit_rolled_back',
      message: expect.stringContaining('No transaction was open'),
    });
    const rollingBack = await own('b');
    rollingBack.tx.exec('ROLLBACK');
    await expect(rollingBack.done()).rejects.toMatchObject({ code: 'commit_rolled_back' });
    const restarting = await own('b');
    restarting.tx.exec('ROLLBACK');
    restarting.tx.exec('BEGIN');
    restarting.tx.exec("INSERT INTO effects VALUES ('b')");
    await expect(restarting.done()).rejects.toMatchObject({ code: 'commit_rolled_back' });
    expect(effects()).toBe(0);
    await (await own('b')).done();
  });

  test('a commit that the schema forbids is undone, mark and all', async () => {
    database.exec('CREATE TABLE invoices (id TEXT PRIMARY KEY)');
    database.exec('CREATE TABLE lines (invoice TEXT REFERENCES invoices (id) DEFERRABLE INITIALLY DEFERRED)');
    const claim = await own('a');
    claim.tx.exec("INSERT INTO lines VALUES ('missing')");
    await expect(claim.done()).rejects.toMatchObject({
      code: 'commit_rolled_back',
      message: expect.stringContaining('FOREIGN KEY'),
    });
    await expect(claim.done()).rejects.toMatchObject({ code: 'commit_rolled_back' });
    expect(database.prepare('SELECT 1 FROM lines').all()).toEqual([]);
    await (await own('a')).release();
  });

  test('a commit that readers keep waiting for too long is undone, mark and all', async () => {
    // Without a write-ahead log readers and the commit are in each other's way.
    journal = 'TRUNCATE';
    const claim = await own('a', { timeoutMs: 200 });
    claim.tx.exec("INSERT INTO effects VALUES ('a')");
    database.exec('BEGIN');
    expect(effects()).toBe(0);
    await expect(claim.done()).rejects.toMatchObject({
      code: 'commit_rolled_back',
      message: expect.stringContaining('locked'),
    });
    database.exec('COMMIT');
    expect(effects()).toBe(0);
    const again = await own('a');
    again.tx.exec("INSERT INTO effects VALUES ('a')");
    await again.done();
    expect(effects()).toBe(1);
  });

  test('leaves an id alone that another process holds by a lease', async () => {
    const leases = sqliteStore(() => open(path));
    const lease = (await leases.claim('a', lifetimes)) as OwnClaim;
    const other = await store.claim('a', lifetimes);
    expect(other).toMatchObject({ state: 'busy' });
    await lease.release();
    const claim = await own('a');
    expect(claim.fence).toBeGreaterThan(lease.fence);
    await claim.done();
    const later = (await leases.claim('b', lifetimes)) as OwnClaim;
    expect(later.fence).toBeGreaterThan(claim.fence);
    await leases.close();
  });

  test('a commit is on the disk when it returns', async () => {
    const claim = await own('a');
    const level = claim.tx.prepare('PRAGMA synchronous').all()[0] as { synchronous: number };
    expect(level.synchronous).toBe(2);
    await claim.done();
  });

  test('needs a new connection for each claim', async () => {
    const always = sqliteStore(() => database, { mode: 'transaction' });
    await expect(always.claim('a', lifetimes)).rejects.toMatchObject({ code: 'config_error' });
    expect(effects()).toBe(0);
  });

  test('needs a file', async () => {
    const memory = sqliteStore(() => open(':memory:'), { mode: 'transaction' });
    await expect(memory.claim('a', lifetimes)).rejects.toMatchObject({ code: 'config_error' });
    await memory.close();
  });

  test('a connection that cannot be opened is told as what it is, and blocks no later claim', async () => {
    let broken = false;
    const flaky = sqliteStore(() => open(broken ? '/nowhere/app.db' : path), { mode: 'transaction' });
    await ((await flaky.claim('a', lifetimes)) as OwnClaim<SqliteDatabase>).done();
    broken = true;
    await expect(flaky.claim('b', lifetimes)).rejects.toMatchObject({ code: 'store_unavailable' });
    broken = false;
    await ((await flaky.claim('b', lifetimes)) as OwnClaim<SqliteDatabase>).done();
    await flaky.close();
  });
});

test.each([
  ['no database', () => sqliteStore(undefined as never), 'prepare'],
  ['a path', () => sqliteStore('app.db' as never), 'prepare'],
  ['an unknown option', () => sqliteStore(() => libsql.open(''), { tabel: 'x' } as never), 'tabel'],
  ['an unknown mode', () => sqliteStore(() => libsql.open(''), { mode: 'both' } as never), '`mode`'],
  [
    'a shared connection for transactions',
    () => sqliteStore({ prepare() {}, exec() {}, close() {} } as never, { mode: 'transaction' } as never),
    'function',
  ],
])('%s is refused when the store is made', (_what, make, named) => {
  expect(make).toThrow(expect.objectContaining({ code: 'config_error', message: expect.stringContaining(named) }));
});
