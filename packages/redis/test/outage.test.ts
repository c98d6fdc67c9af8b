import { afterEach, describe, expect, test } from '@jest/globals';
import { redisStore } from '../src/index.ts';
import {
  clients,
  deliver,
  freshPrefix,
  lateness,
  lifetimes,
  own,
  receiver,
  type Server,
  startServer,
  until,
} from './support.ts';

const LIMIT_SECONDS = 0.5;
const clean: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of clean.splice(0).reverse()) await end();
});

async function ownServer(options?: Parameters<typeof startServer>[0]): Promise<Server> {
  const server = await startServer(options);
  // Servers go after their clients: ioredis waits two seconds for a connection that is closed already.
  clean.unshift(() => server.stop());
  return server;
}

describe.each(clients)('an outage under %s', (_version, lib) => {
  function connect(port: number, options: object = {}): InstanceType<typeof lib.Redis> {
    const client = new lib.Redis(port, '127.0.0.1', options);
    // ioredis prints errors that nobody listens for.
    client.on('error', () => {});
    clean.push(() => client.disconnect());
    return client;
  }

  test.each([
    ['default options', {}],
    ['maxRetriesPerRequest: null', { maxRetriesPerRequest: null }],
    ['no resending', { autoResendUnfulfilledCommands: false }],
  ])('port closed, %s: each delivery is answered in time, and none runs later', async (_name, options) => {
    const server = await ownServer();
    await server.stop();
    const client = connect(server.port, { retryStrategy: () => 50, ...options });
    const prefix = freshPrefix();
    let runs = 0;
    const app = receiver({
      store: redisStore(client, { prefix, timeoutSeconds: LIMIT_SECONDS }),
      storeTimeoutSeconds: LIMIT_SECONDS,
      handler: () => {
        runs += 1;
      },
    });
    let answers: unknown[] = [];
    const late = await lateness(LIMIT_SECONDS * 1000, async () => {
      answers = await Promise.all(Array.from({ length: 100 }, (_, i) => deliver(app, `id-${i}`)));
    });
    for (const answer of answers) expect(answer).toMatchObject({ status: 503, code: 'store_unavailable' });
    expect(late).toBeLessThan(200);
    expect(runs).toBe(0);

    await ownServer({ port: server.port });
    await until(() => client.status === 'ready');
    // Answered after whatever was queued before it.
    expect(await client.dbsize()).toBe(0);
    expect(await deliver(app, 'id-0')).toMatchObject({ status: 200, code: 'handled' });
    expect(runs).toBe(1);
  });

  test('a frozen server: answered in time, and a claim that comes through late is given back', async () => {
    const server = await ownServer();
    const client = connect(server.port);
    const store = redisStore(client, { prefix: freshPrefix(), timeoutSeconds: LIMIT_SECONDS });
    const app = receiver({ store, storeTimeoutSeconds: LIMIT_SECONDS, handler: () => {} });
    expect((await deliver(app, 'before')).status).toBe(200);

    await server.pause();
    const late = await lateness(LIMIT_SECONDS * 1000, async () => {
      const during = await Promise.all(Array.from({ length: 20 }, (_, i) => deliver(app, `during-${i}`)));
      for (const answer of during) expect(answer).toMatchObject({ status: 503, code: 'store_unavailable' });
    });
    expect(late).toBeLessThan(200);
    server.resume();
    for (let i = 0; i < 20; i += 1) {
      // Far sooner than the lease of 20 s would end by itself.
      await until(async () => (await deliver(app, `during-${i}`)).status === 200, 3000);
    }
  });

  test('counting has the time limit too, for each command, frozen or gone', async () => {
    const server = await ownServer();
    const client = connect(server.port);
    const store = redisStore(client, { prefix: freshPrefix(), timeoutSeconds: LIMIT_SECONDS });
    expect((await store.stats()).count).toBe(0);
    await server.pause();
    await expect(store.stats()).rejects.toMatchObject({ code: 'store_unavailable' });
    server.resume();
    await server.stop();
    await expect(store.stats()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await store.close()).toBeUndefined();
  });

  test('a connection that stays silent is made anew', async () => {
    const server = await ownServer();
    const warnings: object[] = [];
    const logger = { warn: (fields: object) => warnings.push(fields) };
    const client = connect(server.port);
    const store = redisStore(client, { prefix: freshPrefix(), timeoutSeconds: 0.2, logger });
    await store.claim('a', lifetimes);
    await server.pause();
    for (let i = 0; i < 4; i += 1) await expect(store.claim('b', lifetimes)).rejects.toThrow('Redis');
    expect(warnings).toContainEqual({ code: 'redis_silent' });
    server.resume();
    await until(async () => (await store.claim('b', lifetimes).catch(() => undefined))?.state === 'mine');
  });

  test('SCRIPT FLUSH and restarts between the steps of a claim change nothing', async () => {
    const first = await ownServer();
    const client = connect(first.port, { retryStrategy: () => 20 });
    const store = redisStore(client, { prefix: freshPrefix() });
    const flush = () => client.script('FLUSH');
    const claim = own(await store.claim('a', lifetimes));
    await flush();
    expect(await claim.extend?.(lifetimes.leaseMs)).toBe(true);
    await flush();
    await claim.release();
    await flush();
    const again = own(await store.claim('a', lifetimes));
    await first.stop();
    await ownServer({ port: first.port });
    // The server was started without its memory, so the lease is gone. The mark is made all the same.
    expect(await again.done()).toBe(true);
    expect(await store.claim('a', lifetimes)).toEqual({ state: 'done' });
  });

  test('a restart while deliveries come in: answers in time, 503 or handled, and every event is handled at last', async () => {
    const first = await ownServer();
    const client = connect(first.port, { retryStrategy: () => 20 });
    const store = redisStore(client, { prefix: freshPrefix(), timeoutSeconds: LIMIT_SECONDS });
    // A mark is tried until the answer is due, at 1.7 s: a restart may take longer than one call.
    const app = receiver({ store, storeTimeoutSeconds: LIMIT_SECONDS, timeoutSeconds: 2, handler: () => {} });
    const ids: string[] = [];
    const restart = first.stop().then(() => ownServer({ port: first.port }));
    for (let round = 0; round < 40; round += 1) {
      const wave = Array.from({ length: 5 }, (_, i) => `id-${round}-${i}`);
      ids.push(...wave);
      const late = await lateness(1700, async () => {
        for (const { status } of await Promise.all(wave.map((id) => deliver(app, id))))
          expect([200, 503]).toContain(status);
      });
      expect(late).toBeLessThan(200);
    }
    await restart;
    for (const id of ids) await until(async () => (await deliver(app, id)).status === 200, 5000);
  });

  test('a replica, a full server and a server that is not allowed to answer are told apart in the message', async () => {
    const server = await ownServer();
    const client = connect(server.port);
    const store = redisStore(client, { prefix: freshPrefix() });
    await client.replicaof('127.0.0.1', 1);
    await expect(store.claim('a', lifetimes)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('connected to a replica'),
    });
    await client.replicaof('NO', 'ONE');
    await client.config('SET', 'maxmemory', '1');
    await expect(store.claim('a', lifetimes)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('Redis is full'),
    });
    await client.config('SET', 'maxmemory', '0');
    expect((await store.claim('a', lifetimes)).state).toBe('mine');
    await client.acl('SETUSER', 'default', '-evalsha');
    await expect(store.claim('b', lifetimes)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('Allow EVAL'),
    });
  });

  test('an evicting policy is told once, at the start', async () => {
    const server = await ownServer({ args: ['--maxmemory-policy', 'allkeys-lru'] });
    const warnings: object[] = [];
    const logger = { warn: (fields: object) => warnings.push(fields) };
    const client = connect(server.port);
    const store = redisStore(client, { prefix: freshPrefix(), logger });
    await until(() => warnings.length > 0);
    await store.claim('a', lifetimes);
    client.disconnect(true);
    await until(async () => (await store.claim('b', lifetimes)).state === 'mine');
    expect(warnings).toEqual([{ code: 'redis_evicts', policy: 'allkeys-lru' }]);
    await store.close();
  });

  test('a client that was closed rejects at once', async () => {
    const server = await ownServer();
    const client = connect(server.port);
    const store = redisStore(client, { prefix: freshPrefix() });
    await store.claim('a', lifetimes);
    await client.quit();
    await until(() => client.status === 'end');
    const late = await lateness(100, () =>
      expect(store.claim('a', lifetimes)).rejects.toMatchObject({ code: 'store_unavailable' }),
    );
    expect(late).toBe(0);
  });
});
