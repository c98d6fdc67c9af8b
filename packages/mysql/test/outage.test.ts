import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Pool, PoolOptions } from 'mysql2/promise';
import { type TcpProxy, tcpProxy } from '../../../tests/failures/tcp-proxy.ts';
import { type MysqlStore, mysqlStore } from '../src/index.ts';
import {
  connect,
  freshTable,
  lateness,
  lifetimes,
  own,
  type Server,
  sharedUrl,
  startServer,
  until,
} from './support.ts';

const LIMIT_MS = 400;
const limited = { ...lifetimes, timeoutMs: LIMIT_MS };

describe.each(['transaction', 'lease'] as const)('an outage in mode %s', (mode) => {
  let proxy: TcpProxy;
  let table: string;
  let store: MysqlStore<unknown>;
  /** The same store past the proxy, as another process has it. */
  let direct: MysqlStore<unknown>;
  const pools: Pool[] = [];

  function storeOn(options: PoolOptions = {}): MysqlStore<unknown> {
    const pool = connect(options);
    pools.push(pool);
    return mysqlStore(pool, { mode, table });
  }

  beforeEach(async () => {
    proxy = await tcpProxy(sharedUrl());
    table = freshTable();
    direct = storeOn();
    store = storeOn({ uri: proxy.through(sharedUrl()) });
    await direct.migrate();
    await own(await store.claim('before', lifetimes)).done();
  });

  afterEach(async () => {
    proxy.pass();
    await Promise.all(pools.splice(0).map((pool) => pool.end().catch(() => {})));
    await proxy.stop();
  });

  async function refused(claims: number): Promise<void> {
    let outcomes: unknown[] = [];
    const late = await lateness(LIMIT_MS, async () => {
      const claiming = Array.from({ length: claims }, (_, at) => store.claim(`id-${at}`, limited));
      outcomes = await Promise.all(claiming.map((claim) => claim.catch((error: { code: string }) => error.code)));
    });
    expect(new Set(outcomes)).toEqual(new Set(['store_unavailable']));
    expect(late).toBeLessThan(200);
  }

  test('refused: every claim is answered in time, and it recovers by itself', async () => {
    await proxy.refuse();
    await refused(50);
    await proxy.accept();
    await own(await store.claim('id-0', lifetimes)).done();
    expect(await direct.claim('id-0', lifetimes)).toEqual({ state: 'done' });
  });

  test('black-holed: every claim is answered in time, and it recovers though the old connections never do', async () => {
    proxy.blackHole();
    await refused(50);
    proxy.cut();
    proxy.pass();
    const claim = await until(async () => {
      const next = await store.claim('id-0', limited).catch(() => undefined);
      return next?.state === 'mine' && next;
    });
    expect(await claim.done()).toBe(true);
  });

  test('slow: answered in time, and at the speed of the network again afterwards', async () => {
    proxy.delay(LIMIT_MS);
    await refused(1);
    proxy.pass();
    await until(async () => (await direct.claim('b', limited)).state === 'mine');
    expect((await store.claim('c', lifetimes)).state).toBe('mine');
  });

  test('connections that are cut while idle end no process and cost no claim', async () => {
    await Promise.all(Array.from({ length: 5 }, (_, at) => store.claim(`idle-${at}`, lifetimes))).then((claims) =>
      Promise.all(claims.map((claim) => own(claim).release())),
    );
    proxy.cut();
    expect((await store.claim('a', lifetimes)).state).toBe('mine');
  });

  test.each(['request', 'reply'] as const)('a claim’s %s is lost: the event is not', async (what) => {
    const lost = proxy.loseOnce(what, 'INSERT INTO');
    const claiming = store.claim('a', lifetimes);
    await lost;
    // A lease is asked for again with its own token. A transaction has ended with its connection, and is begun again.
    expect(await own(await claiming).done()).toBe(true);
    expect(await direct.claim('a', lifetimes)).toEqual({ state: 'done' });
  });

  test.each(['request', 'reply'] as const)('a mark’s %s is lost', async (what) => {
    const claim = own(await store.claim('a', lifetimes));
    const lost = proxy.loseOnce(what, mode === 'lease' ? 'done = 1' : 'COMMIT');
    const marked = claim.done().catch((error: { code: string }) => error.code);
    await lost;
    // A lease is marked again. Of a COMMIT nobody knows, and the row tells the next delivery.
    expect(await marked).toBe(mode === 'lease' ? true : 'commit_failed');
    const next = await until(async () => {
      const claimed = await direct.claim('a', lifetimes);
      return claimed.state !== 'busy' && claimed;
    });
    expect(next.state).toBe(mode === 'lease' || what === 'reply' ? 'done' : 'mine');
  });

  test('a release that is lost frees the id with the connection, or with the lease', async () => {
    const claim = own(await store.claim('a', { ...lifetimes, leaseMs: 500 }));
    const lost = proxy.loseOnce('request', mode === 'lease' ? 'token = ' : 'ROLLBACK');
    const released = claim.release().catch(() => {});
    await lost;
    await released;
    await until(async () => (await direct.claim('a', lifetimes)).state === 'mine');
  });
});

describe('a server that stops', () => {
  const args = ['--innodb-flush-log-at-trx-commit=0', '--innodb-doublewrite=0'];
  const folder = mkdtempSync(join(tmpdir(), 'factuarea-webhook-mariadb-'));
  let server: Server;
  let pool: Pool;

  beforeAll(async () => {
    server = await startServer({ args, folder });
    pool = connect({ uri: server.url });
  }, 60_000);

  afterAll(async () => {
    await pool.end().catch(() => {});
    await server.stop();
    rmSync(folder, { recursive: true });
  }, 60_000);

  async function storeOf(mode: 'transaction' | 'lease'): Promise<MysqlStore<unknown>> {
    const store = mysqlStore(pool, { mode });
    await store.migrate();
    return store;
  }

  test.each(['transaction', 'lease'] as const)(
    'frozen, then woken, in mode %s: claims are answered in time, and late ones are in nobody’s way',
    async (mode) => {
      const store = await storeOf(mode);
      await own(await store.claim('before', lifetimes)).done();
      await server.pause();
      let outcomes: unknown[] = [];
      const late = await lateness(LIMIT_MS, async () => {
        const claims = Array.from({ length: 20 }, (_, at) => store.claim(`id-${at}`, { ...limited, leaseMs: 1000 }));
        outcomes = await Promise.all(claims.map((claim) => claim.catch((error: { code: string }) => error.code)));
      });
      server.resume();
      expect(new Set(outcomes)).toEqual(new Set(['store_unavailable']));
      expect(late).toBeLessThan(200);
      for (let at = 0; at < 20; at += 1) {
        const claim = await until(async () => {
          const next = await store.claim(`id-${at}`, lifetimes).catch(() => undefined);
          return next?.state === 'mine' && next;
        });
        await claim.release();
      }
    },
    60_000,
  );

  test('restarted: open transactions are undone, leases go on, and what was done is known', async () => {
    const [transactions, leases] = [await storeOf('transaction'), await storeOf('lease')];
    for (const store of [transactions, leases]) await own(await store.claim('done', lifetimes)).done();
    const open = own(await transactions.claim('open', lifetimes));
    const lease = own(await leases.claim('open', lifetimes));
    await server.stop();
    await expect(leases.claim('down', limited)).rejects.toMatchObject({ code: 'store_unavailable' });
    server = await startServer({ args, folder, port: server.port });

    await expect(open.done()).rejects.toMatchObject({ code: 'commit_rolled_back' });
    expect((await transactions.claim('open', lifetimes)).state).toBe('mine');
    expect((await leases.claim('open', lifetimes)).state).toBe('busy');
    expect(await lease.done()).toBe(true);
    for (const store of [transactions, leases]) expect(await store.claim('done', lifetimes)).toEqual({ state: 'done' });
  }, 60_000);
});

test('no pool and a pool of callbacks are refused at once', async () => {
  const pool = connect();
  const config = expect.objectContaining({ code: 'config_error' });
  expect(() => mysqlStore(undefined as never)).toThrow(config);
  expect(() => mysqlStore(pool.pool as never)).toThrow(config);
  expect(() => mysqlStore(pool, { mode: 'both' } as never)).toThrow(config);
  expect(() => mysqlStore(pool, { tabel: 'ids' } as never)).toThrow(config);
  expect(() => mysqlStore(pool, { table: 'ids; DROP TABLE ids' })).toThrow(config);
  expect(() => mysqlStore(pool, { maxConnections: 11 })).toThrow(config);
  expect(() => mysqlStore(pool, { timeoutSeconds: 0 })).toThrow(config);
  expect(() => mysqlStore(pool, { timeoutSeconds: '2' as never })).toThrow(config);
  await pool.end();
});
