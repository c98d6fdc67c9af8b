import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Cluster } from 'ioredis';
import { type RedisStore, redisStore } from '../src/index.ts';
import { clients, freshPrefix, lifetimes, own, type Server, startServer, until } from './support.ts';

const SLOTS = 16_384;

describe('a cluster of three masters', () => {
  let nodes: Server[];

  beforeAll(async () => {
    const settings = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000'];
    nodes = await Promise.all([0, 1, 2].map(() => startServer({ args: settings })));
    const [, { Redis }] = clients[0] as (typeof clients)[0];
    const admins = nodes.map(({ port }) => new Redis(port, '127.0.0.1'));
    for (const [at, admin] of admins.entries()) {
      const from = Math.ceil((SLOTS / 3) * at);
      const to = Math.ceil((SLOTS / 3) * (at + 1)) - 1;
      await admin.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to));
      await admin.call('CLUSTER', 'MEET', '127.0.0.1', String(nodes[0]?.port));
    }
    for (const admin of admins) {
      await until(async () => {
        const info = await admin.call('CLUSTER', 'INFO');
        return String(info).includes('cluster_state:ok') && String(info).includes('cluster_known_nodes:3');
      }, 20_000);
    }
    await Promise.all(admins.map((admin) => admin.quit()));
  }, 60_000);

  afterAll(() => Promise.all(nodes.map((node) => node.stop())));

  describe.each(clients)('under %s', (_version, lib) => {
    let cluster: Cluster;
    let store: RedisStore;

    beforeAll(() => {
      cluster = new lib.Cluster([{ host: '127.0.0.1', port: nodes[0]?.port as number }]);
      cluster.on('error', () => {});
      store = redisStore(cluster, { prefix: freshPrefix() });
    });

    afterAll(() => cluster.disconnect());

    test('ids of every shape are claimed, marked and counted, whatever slot they fall into', async () => {
      const ids = [
        '{a}1',
        '{a}2',
        '{}',
        '{',
        '}',
        'a{b',
        ':',
        '🧾',
        ...Array.from({ length: 40 }, (_, at) => `id-${at}`),
      ];
      const claims = await Promise.all(ids.map(async (id) => own(await store.claim(id, lifetimes))));
      expect((await store.claim('{a}1', lifetimes)).state).toBe('busy');
      for (const claim of claims) {
        expect(await claim.extend?.(20_000)).toBe(true);
        expect(await claim.done()).toBe(true);
      }
      for (const id of ids) expect(await store.claim(id, lifetimes)).toEqual({ state: 'done' });
      expect((await store.stats()).count).toBe(ids.length);
      expect(await store.forget('{a}1')).toBe(true);
      await own(await store.claim('{a}1', lifetimes)).release();
    });

    test('SCRIPT FLUSH on every node changes nothing', async () => {
      await Promise.all(cluster.nodes('master').map((node) => node.script('FLUSH')));
      await Promise.all(
        Array.from({ length: 20 }, async (_, at) => own(await store.claim(`flushed-${at}`, lifetimes)).done()),
      );
    });
  });

  test('a client for a single server is told that this is a cluster', async () => {
    const [, lib] = clients[0] as (typeof clients)[0];
    const client = new lib.Redis(nodes[0]?.port as number, '127.0.0.1');
    const store = redisStore(client, { prefix: freshPrefix() });
    const refusals = await Promise.all(
      Array.from({ length: 20 }, (_, at) => store.claim(`id-${at}`, lifetimes).catch((error: Error) => error.message)),
    );
    expect(refusals).toContainEqual(expect.stringContaining('Connect with `new Cluster'));
    await client.quit();
  });

  test('a node that is gone: its ids are answered in time, the others are handled', async () => {
    const [, lib] = clients[0] as (typeof clients)[0];
    const cluster = new lib.Cluster([{ host: '127.0.0.1', port: nodes[0]?.port as number }]);
    cluster.on('error', () => {});
    const store = redisStore(cluster, { prefix: freshPrefix() });
    await own(await store.claim('warm', lifetimes)).done();
    await nodes[2]?.stop();
    const states = await Promise.all(
      Array.from({ length: 30 }, async (_, at) => {
        const startedAt = performance.now();
        const state = await store.claim(`gone-${at}`, { ...lifetimes, timeoutMs: 500 }).then(
          (claim) => claim.state,
          (error: { code: string }) => error.code,
        );
        expect(performance.now() - startedAt).toBeLessThan(2000);
        return state;
      }),
    );
    expect(new Set(states)).toContain('store_unavailable');
    expect(states.every((state) => state === 'mine' || state === 'store_unavailable')).toBe(true);
    cluster.disconnect();
  }, 30_000);
});
