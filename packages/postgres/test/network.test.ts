import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postgresStore } from '@factuarea-webhook/postgres';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Pool } from 'pg';
import { type TcpProxy, tcpProxy } from '../../../tests/failures/tcp-proxy.ts';
import { ownServer } from './server.ts';
import {
  countEffects,
  effect,
  effectsTable,
  type Place,
  type Posted,
  place,
  receiving,
  until,
  url,
} from './support.ts';

const modes = ['transaction', 'lease'] as const;

let here: Place;
let plain: Pool;
let ids = 0;
let id: string;

beforeAll(async () => {
  here = await place();
  plain = here.pool();
  await plain.query(effectsTable);
  for (const mode of modes) await postgresStore(plain, { mode }).migrate();
});
beforeEach(() => {
  id = `evt_${ids++}`;
});
afterAll(() => here.close());

test.each(modes)('a connection that ends as it is made ends no process, mode %s', async (mode) => {
  const proxy = createServer((client) => {
    const server = dial(Number(new URL(url).port), new URL(url).hostname);
    for (const socket of [client, server]) socket.on('error', () => {});
    client.pipe(server);
    server.on('data', (data) => {
      // Logged in, and told in the same packet that Postgres shuts down: the pool has the connection, nobody listens.
      if (!data.subarray(-6).equals(readyForQuery)) return client.write(data);
      client.end(Buffer.concat([data, shuttingDown]));
      return server.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const through = new URL(url);
  through.port = String((proxy.address() as AddressInfo).port);
  const pool = here.pool({ connectionString: through.href, connectionTimeoutMillis: 400 });
  const store = postgresStore(pool, { mode });
  for (const call of [store.stats(), store.claim(id, { leaseMs: 20_000, retentionMs: 1e9, timeoutMs: 500 })]) {
    await expect(call).rejects.toMatchObject({ code: 'store_unavailable' });
  }
  await pool.end();
  await new Promise((resolve) => proxy.close(resolve));
});

const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const shuttingDown = ((text: string): Buffer => {
  const message = Buffer.alloc(5 + text.length, `.....${text}`, 'latin1');
  message[0] = 0x45;
  message.writeInt32BE(message.length - 1, 1);
  return message;
})(['SFATAL', 'VFATAL', 'C57P01', 'Mshutting down', '', ''].join('\0'));

describe.each(modes)('a faulty network, mode %s', (mode) => {
  let proxy: TcpProxy;
  let pool: Pool;
  let post: (id: string) => Promise<Posted>;

  beforeEach(async () => {
    proxy = await tcpProxy(url);
    pool = here.pool({ connectionString: proxy.through(url), connectionTimeoutMillis: 400 });
    const store = postgresStore(pool, { mode });
    post = receiving({
      // A claim whose release was lost holds until its lease has run out.
      store: { claim: (one, options) => store.claim(one, { ...options, leaseMs: 300 }) },
      storeTimeoutSeconds: 0.5,
      timeoutSeconds: 3,
      handler: (event, { tx }) => effect(tx ?? pool, event.id),
    });
    expect(await post(`${id}_first`)).toMatchObject({ code: 'handled' });
  });
  afterEach(async () => {
    proxy.pass();
    await pool.end();
    await proxy.stop();
  });

  /** What the sender does: again and again until it gets a 2xx. */
  const resend = (one: string): Promise<Posted> =>
    until(async () => {
      const answer = await post(one);
      expect([200, 503]).toContain(answer.status);
      return answer.status === 200 && answer;
    });

  test('round trips: one to claim, one to settle', async () => {
    const before = proxy.requests;
    await post(id);
    // With the handler's own.
    expect(proxy.requests - before).toBe(3);
    const claimed = proxy.requests;
    await postgresStore(pool, { mode }).claim(id, { leaseMs: 1000, retentionMs: 1000 });
    // A look at the table's columns, once for each store; the claim; in transaction mode the end of the transaction.
    await until(async () => pool.idleCount === pool.totalCount);
    expect(proxy.requests - claimed).toBe(mode === 'lease' ? 2 : 3);
  });

  test('the reply to the claim is lost', async () => {
    const lost = proxy.loseOnce('reply', 'ON CONFLICT');
    const answer = await post(id);
    await lost;
    expect([200, 503]).toContain(answer.status);
    await resend(id);
    expect(await countEffects(plain, id)).toBe(1);
  });

  test('the connections have died unnoticed while they were idle', async () => {
    const lost = proxy.loseOnce('request', 'ON CONFLICT');
    expect(await post(id)).toMatchObject({ status: 200, code: 'handled' });
    await lost;
    expect(await countEffects(plain, id)).toBe(1);
  });

  test.each(['request', 'reply'] as const)('the %s of the mark is lost', async (what) => {
    const lost = proxy.loseOnce(what, mode === 'lease' ? 'done = true' : 'COMMIT');
    const answer = await post(id);
    await lost;
    if (mode === 'lease') expect(answer).toMatchObject({ status: 200, code: 'handled' });
    else expect(answer).toMatchObject({ status: 503, code: 'commit_failed', error: { code: 'commit_failed' } });
    const again = await resend(id);
    // The row tells whether the commit took effect.
    expect(again.code).toBe(mode === 'lease' || what === 'reply' ? 'repeat' : 'handled');
    expect(await countEffects(plain, id)).toBe(1);
  });

  test.each(['refused', 'black-holed', 'cut in the middle of everything'])(
    '%s: bounded answers, then as before',
    async (fault) => {
      if (fault === 'refused') await proxy.refuse();
      else if (fault === 'black-holed') proxy.blackHole();
      else setTimeout(() => proxy.cut(), 5);
      const answers = await Promise.all(Array.from({ length: 30 }, (_, at) => post(`${id}_${at}`)));
      for (const answer of answers) {
        expect([200, 500, 503]).toContain(answer.status);
        expect(answer.ms).toBeLessThan(2500);
        if (fault !== 'cut in the middle of everything') expect(answer).toMatchObject({ code: 'store_unavailable' });
      }
      if (fault === 'refused') await proxy.accept();
      proxy.pass();
      await resend(id);
      for (let at = 0; at < 30; at++) await resend(`${id}_${at}`);
      if (mode === 'transaction') {
        for (let at = 0; at < 30; at++) expect(await countEffects(plain, `${id}_${at}`)).toBe(1);
      }
    },
    30_000,
  );

  test('slow: every reply 60 ms late', async () => {
    proxy.delay(30);
    expect(await post(id)).toMatchObject({ code: 'handled' });
    expect(await post(id)).toMatchObject({ code: 'repeat' });
    proxy.pass();
  });
});

test('a server that restarts under idle and held connections', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'factuarea-webhook-restart-'));
  let server = await ownServer({ folder });
  const pool = new Pool({ connectionString: server.url, connectionTimeoutMillis: 1000 });
  try {
    const stores = modes.map((mode) => postgresStore(pool, { mode }));
    await Promise.all(stores.map((store) => store.migrate()));
    await pool.query(effectsTable);
    let entered = (): void => {};
    const inside = new Promise<void>((resolve) => {
      entered = resolve;
    });
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const posts = stores.map((store) =>
      receiving({
        store,
        storeTimeoutSeconds: 1,
        async handler(event, { tx }) {
          if (event.id === 'held') {
            entered();
            await gate;
          }
          await effect(tx ?? pool, event.id);
        },
      }),
    );
    const both = (one: string): Promise<Posted[]> => Promise.all(posts.map((post) => post(one)));
    expect((await both('before')).map(({ code }) => code)).toEqual(['handled', 'handled']);
    const held = posts[0]?.('held');
    await inside;

    await server.stop();
    for (const answer of await both('during')) expect(answer).toMatchObject({ status: 503, code: 'store_unavailable' });
    go();
    // The handler's own statement failed with its connection.
    expect(await held).toMatchObject({ status: 500, code: 'handler_failed' });

    server = await ownServer({ folder, port: Number(new URL(server.url).port) });
    expect((await both('during')).map(({ status }) => status)).toEqual([200, 200]);
    expect((await both('before')).map(({ code }) => code)).toEqual(['repeat', 'repeat']);
    expect(await posts[0]?.('held')).toMatchObject({ code: 'handled' });
    expect(await countEffects(pool, 'held')).toBe(1);
  } finally {
    await pool.end();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}, 60_000);
