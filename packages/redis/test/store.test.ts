import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Redis } from 'ioredis';
import { type RedisStore, redisStore } from '../src/index.ts';
import { clients, freshPrefix, lifetimes, own, sharedUrl, until } from './support.ts';

const allButDate = [
  ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'setInterval', 'setTimeout'] as const),
  ...(['clearImmediate', 'clearInterval', 'clearTimeout'] as const),
];

describe.each(clients)('redisStore on %s', (_version, lib) => {
  let client: Redis;
  let prefix: string;
  let store: RedisStore;

  beforeEach(() => {
    client = new lib.Redis(sharedUrl());
    prefix = freshPrefix();
    store = redisStore(client, { prefix });
  });

  afterEach(async () => {
    await store.close();
    await client.quit();
  });

  test('a claim is busy to others until it is done, and done from then on', async () => {
    const mine = own(await store.claim('a', lifetimes));
    const other = await store.claim('a', lifetimes);
    expect(other.state).toBe('busy');
    expect((other as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(14_000);
    expect((other as { retryAfterMs: number }).retryAfterMs).toBeLessThanOrEqual(15_000);
    expect(await mine.done()).toBe(true);
    expect(await mine.done()).toBe(true);
    expect(await store.claim('a', lifetimes)).toEqual({ state: 'done' });
  });

  test('what is released is free at once, and the fence has grown', async () => {
    const first = own(await store.claim('a', lifetimes));
    await first.release();
    const second = own(await store.claim('a', lifetimes));
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(await first.done()).toBe(false);
    expect(await first.extend?.(60_000)).toBe(false);
    await first.release();
    expect((await store.claim('a', lifetimes)).state).toBe('busy');
  });

  test('a lease that has run out is taken over, and its owner can do nothing more', async () => {
    const first = own(await store.claim('a', { ...lifetimes, leaseMs: 30 }));
    const second = own(
      await until(async () => {
        const claim = await store.claim('a', lifetimes);
        return claim.state === 'mine' && claim;
      }),
    );
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(await first.extend?.(60_000)).toBe(false);
    expect(await first.done()).toBe(false);
    await first.release();
    expect(await second.done()).toBe(true);
  });

  test('a key lives for the retention, whatever its state', async () => {
    const left = async (): Promise<number> => lifetimes.retentionMs - (await client.pttl(`${prefix}a`));
    const claim = own(await store.claim('a', lifetimes));
    expect(await left()).toBeLessThan(5_000);
    await claim.extend?.(10);
    expect(await left()).toBeLessThan(5_000);
    await claim.release();
    expect(await left()).toBeLessThan(5_000);
    await own(await store.claim('a', lifetimes)).done();
    expect(await left()).toBeLessThan(5_000);
  });

  test('a done id is free again once its retention is over', async () => {
    await own(await store.claim('a', { leaseMs: 1000, retentionMs: 40 })).done();
    expect(await store.claim('a', lifetimes)).toEqual({ state: 'done' });
    await until(async () => (await client.exists(`${prefix}a`)) === 0);
    expect((await store.claim('a', lifetimes)).state).toBe('mine');
  });

  test('forget lets the next delivery run, and takes the claim from a run that is under way', async () => {
    expect(await store.forget('a')).toBe(false);
    const running = own(await store.claim('a', lifetimes));
    expect(await store.forget('a')).toBe(true);
    expect(await running.done()).toBe(false);
    const next = own(await store.claim('a', lifetimes));
    expect(next.fence).toBeGreaterThan(running.fence);
    await next.done();
    expect(await store.forget('a')).toBe(true);
    expect(await store.forget('a')).toBe(false);
    expect((await store.claim('a', lifetimes)).state).toBe('mine');
  });

  test('a key that the server has lost can still be marked and extended by its owner, and its fence grows', async () => {
    const first = own(await store.claim('a', lifetimes));
    await client.del(`${prefix}a`);
    expect(await first.extend?.(15_000)).toBe(true);
    expect((await store.claim('a', lifetimes)).state).toBe('busy');
    await client.del(`${prefix}a`);
    expect(await first.done()).toBe(true);
    expect(await store.claim('a', lifetimes)).toEqual({ state: 'done' });
    await client.del(`${prefix}a`);
    expect(own(await store.claim('a', lifetimes)).fence).toBeGreaterThan(first.fence);
  });

  test('ids that look alike stay apart', async () => {
    const ids = [
      'A',
      'a',
      'á',
      'a\u0301',
      '{a}',
      '{}a',
      'a{b',
      ':a',
      'a:',
      '007',
      '7',
      "'",
      '"',
      '*',
      '🧾',
      '🧾\u200d',
    ];
    ids.push('x'.repeat(255), 'X'.repeat(255), '🧾'.repeat(255));
    for (const id of ids) expect([id, (await store.claim(id, lifetimes)).state]).toEqual([id, 'mine']);
    for (const id of ids) expect([id, (await store.claim(id, lifetimes)).state]).toEqual([id, 'busy']);
  });

  test('stats count what is done, per day, under this prefix alone', async () => {
    expect(await store.stats()).toEqual({ count: 0, oldest: undefined, newest: undefined, byDay: {} });
    for (let i = 0; i < 12; i += 1) await own(await store.claim(`id-${i}`, lifetimes)).done();
    await store.claim('running', lifetimes);
    await own(await redisStore(client, { prefix: `${prefix}other:` }).claim('a', lifetimes)).release();
    const { count, oldest, newest, byDay } = await store.stats();
    expect(count).toBe(12);
    expect(Math.abs(Date.now() - Number(newest))).toBeLessThan(10_000);
    expect(Number(oldest)).toBeLessThanOrEqual(Number(newest));
    expect(Object.values(byDay).reduce((sum, one) => sum + one, 0)).toBe(12);
  });

  test("stats and claims work with the client's own keyPrefix", async () => {
    const prefixed = new lib.Redis(sharedUrl(), { keyPrefix: 'app[1]:' });
    const inside = redisStore(prefixed, { prefix });
    await own(await inside.claim('a', lifetimes)).done();
    expect((await inside.stats()).count).toBe(1);
    expect((await store.stats()).count).toBe(0);
    await prefixed.quit();
  });

  test('a key that somebody else has written is an error, not a claim', async () => {
    await client.set(`${prefix}a`, 'mine');
    await client.lpush(`${prefix}b`, 'mine');
    for (const id of ['a', 'b']) {
      await expect(store.claim(id, lifetimes)).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('Something else writes keys with this prefix'),
      });
    }
  });

  test('two stores with one prefix share ids, with two they do not', async () => {
    await own(await store.claim('a', lifetimes)).done();
    expect(await redisStore(client, { prefix }).claim('a', lifetimes)).toEqual({ state: 'done' });
    expect((await redisStore(client, { prefix: freshPrefix() }).claim('a', lifetimes)).state).toBe('mine');
  });

  test("a client's clock that is hours off, or stepping, changes nothing", async () => {
    const real = Date.now();
    for (const offset of [3_600_000, -3_600_000]) {
      jest.useFakeTimers({ now: real + offset, doNotFake: [...allButDate] });
      const id = `clock-${offset}`;
      const first = own(await store.claim(id, { ...lifetimes, leaseMs: 300 }));
      expect((await store.claim(id, lifetimes)).state).toBe('busy');
      jest.setSystemTime(real - offset);
      expect((await store.claim(id, lifetimes)).state).toBe('busy');
      const second = await until(async () => {
        const claim = await store.claim(id, lifetimes);
        return claim.state === 'mine' && claim;
      }, 3_600_000 * 3);
      expect(second.fence).toBeGreaterThan(first.fence);
      expect(await first.done()).toBe(false);
      expect(await second.done()).toBe(true);
      jest.useRealTimers();
    }
  });

  test('a lazy client is connected by the first claim', async () => {
    const lazy = new lib.Redis(sharedUrl(), { lazyConnect: true });
    const late = redisStore(lazy, { prefix });
    expect((await late.claim('lazy', lifetimes)).state).toBe('mine');
    await late.close();
    await lazy.quit();
  });
});

test('only a text is forgotten, and no list that would turn into one', async () => {
  const store = redisStore(anyClient());
  for (const id of [undefined, ['0199'], '']) {
    await expect(store.forget(id as string)).rejects.toMatchObject({ code: 'config_error' });
  }
});

test.each([
  ['no client', () => redisStore(undefined as never)],
  ['an unknown option', () => redisStore(anyClient(), { ttl: 5 } as never)],
  ['an empty prefix', () => redisStore(anyClient(), { prefix: '' })],
  ['a time limit of 0', () => redisStore(anyClient(), { timeoutSeconds: 0 })],
  ['a time limit as a text', () => redisStore(anyClient(), { timeoutSeconds: '2' as never })],
  ['a logger without warn', () => redisStore(anyClient(), { logger: {} as never })],
])('%s is refused at once', (_what, make) => {
  expect(make).toThrow(expect.objectContaining({ code: 'config_error' }));
});

function anyClient(): never {
  const nothing = async (): Promise<never> => Promise.reject(new Error('not called'));
  return { status: 'wait', evalsha: nothing, eval: nothing, connect: nothing, once() {}, off() {} } as never;
}
