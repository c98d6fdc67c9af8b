import { afterEach, describe, expect, test } from '@jest/globals';
import { redisStore } from '../src/index.ts';
import { clients, deliver, freshPrefix, lifetimes, own, receiver, type Server, startServer, until } from './support.ts';

const clean: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of clean.splice(0).reverse()) await end();
});

// Otherwise a master waits 5 s for further replicas before it sends a first one its data.
const masterOptions = { args: ['--repl-diskless-sync-delay', '0'] };

async function ownServer(options?: Parameters<typeof startServer>[0]): Promise<Server> {
  const server = await startServer(options);
  clean.unshift(() => server.stop());
  return server;
}

describe.each(clients)('a failover under %s', (_version, lib) => {
  async function withSentinel(replicaOf: (master: Server) => Promise<Server>) {
    const master = await ownServer(masterOptions);
    const replica = await replicaOf(master);
    const sentinel = await ownServer({
      args: ['--sentinel'],
      config: [
        `sentinel monitor main 127.0.0.1 ${master.port} 1`,
        'sentinel down-after-milliseconds main 400',
        'sentinel failover-timeout main 2000',
        '',
      ].join('\n'),
    });
    const admin = new lib.Redis(sentinel.port, '127.0.0.1');
    admin.on('error', () => {});
    const client = new lib.Redis({
      sentinels: [{ host: '127.0.0.1', port: sentinel.port }],
      name: 'main',
      sentinelRetryStrategy: () => 50,
      retryStrategy: () => 50,
    });
    client.on('error', () => {});
    clean.push(() => client.disconnect());
    clean.push(() => admin.disconnect());
    await until(async () => String(await admin.call('SENTINEL', 'REPLICAS', 'main')).includes(String(replica.port)));
    return { master, replica, client };
  }

  const replicaOf = (master: Server): Promise<Server> =>
    ownServer({ args: ['--replicaof', `127.0.0.1 ${master.port}`] });

  test('through Sentinel: claims go on at the new master, which knows what was done', async () => {
    const { master, replica, client } = await withSentinel(replicaOf);
    const store = redisStore(client, { prefix: freshPrefix() });
    await until(() => client.status === 'ready');
    const direct = new lib.Redis(replica.port, '127.0.0.1');
    clean.push(() => direct.disconnect());
    await until(async () => (await direct.info('replication')).includes('master_link_status:up'));
    await own(await store.claim('done', lifetimes)).done();
    const running = own(await store.claim('running', lifetimes));
    // Both have reached the replica.
    await until(async () => (await direct.dbsize()) === 2);

    master.kill();
    const claim = await until(async () => {
      const next = await store.claim('after', { ...lifetimes, timeoutMs: 500 }).catch(() => undefined);
      return next?.state === 'mine' && next;
    }, 20_000);
    expect(await claim.done()).toBe(true);
    expect(await store.claim('done', lifetimes)).toEqual({ state: 'done' });
    expect((await store.claim('running', lifetimes)).state).toBe('busy');
    expect(await running.done()).toBe(true);
  }, 60_000);

  test('to a replica that had fallen behind: what it never heard of is handled again, and nothing is lost', async () => {
    const master = await ownServer(masterOptions);
    const replica = await replicaOf(master);
    const toMaster = new lib.Redis(master.port, '127.0.0.1', { retryStrategy: () => 50 });
    const toReplica = new lib.Redis(replica.port, '127.0.0.1', { retryStrategy: () => 50 });
    for (const client of [toMaster, toReplica]) {
      client.on('error', () => {});
      clean.push(() => client.disconnect());
    }
    const prefix = freshPrefix();
    const runs: { id: string; fence: number }[] = [];
    const app = (client: typeof toMaster) =>
      receiver({
        store: redisStore(client, { prefix }),
        handler: ({ id }, { fence }) => {
          runs.push({ id, fence });
        },
      });
    const [before, after] = [app(toMaster), app(toReplica)];

    await until(async () => (await toReplica.info('replication')).includes('master_link_status:up'));
    expect((await deliver(before, 'heard')).status).toBe(200);
    await until(async () => (await toReplica.dbsize()) === 1);
    await replica.pause();
    expect((await deliver(before, 'unheard')).status).toBe(200);
    const running = own(await redisStore(toMaster, { prefix }).claim('running', { ...lifetimes, leaseMs: 1000 }));
    master.kill();
    replica.resume();
    // A replica refuses to claim until it has been promoted.
    expect(await deliver(after, 'early')).toMatchObject({ status: 503, code: 'store_unavailable' });
    await toReplica.replicaof('NO', 'ONE');

    expect(await deliver(after, 'heard')).toMatchObject({ status: 200, code: 'repeat' });
    for (const id of ['unheard', 'early', 'running']) {
      // At the latest: what the dead master had sent before it died may still be on its way.
      await until(async () => (await deliver(after, id)).status === 200, 20_000);
    }
    for (const id of ['unheard', 'early']) expect(runs.some((run) => run.id === id)).toBe(true);
    const fences = runs.filter(({ id }) => id === 'unheard').map(({ fence }) => fence);
    expect(fences).toEqual([...fences].sort((a, b) => a - b));
    expect(new Set(fences).size).toBe(fences.length);
    expect(running.fence).toBeLessThan(runs.find(({ id }) => id === 'running')?.fence ?? Number.POSITIVE_INFINITY);
  }, 60_000);
});
