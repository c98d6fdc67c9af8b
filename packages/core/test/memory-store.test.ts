import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { doneCache } from '../src/done-cache.ts';
import { type MemoryStore, memoryStore, type OwnClaim } from '../src/index.ts';
import { thrownBy } from './support.ts';

const options = { leaseMs: 20_000, retentionMs: 7 * 86_400_000 };

async function own(store: MemoryStore, id: string, more = {}): Promise<OwnClaim> {
  const claim = await store.claim(id, { ...options, ...more });
  if (claim.state !== 'mine') throw new Error(`The claim on ${id} is ${claim.state}.`);
  return claim;
}

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('the memory store', () => {
  test('a claim is busy, then done', async () => {
    const store = memoryStore();
    const claim = await own(store, 'a');
    jest.advanceTimersByTime(5000);
    expect(await store.claim('a', options)).toEqual({ state: 'busy', retryAfterMs: 15_000 });
    expect(await claim.done()).toBe(true);
    expect(await store.claim('a', options)).toEqual({ state: 'done' });
    expect(store.size).toBe(1);
  });

  test('a released claim is free at once', async () => {
    const store = memoryStore();
    const first = await own(store, 'a');
    await first.release();
    const second = await own(store, 'a');
    expect(second.fence).toBeGreaterThan(first.fence);
  });

  test('a lease that ran out is taken over, and its old owner changes nothing', async () => {
    const store = memoryStore();
    const old = await own(store, 'a');
    jest.advanceTimersByTime(20_000);
    const taken = await own(store, 'a');
    expect(taken.fence).toBeGreaterThan(old.fence);
    expect(await old.done()).toBe(false);
    expect(await old.extend?.(20_000)).toBe(false);
    await old.release();
    expect(await store.claim('a', options)).toMatchObject({ state: 'busy' });
    expect(await taken.done()).toBe(true);
  });

  test('a lease that ran out without a successor can still be marked and extended', async () => {
    const store = memoryStore();
    const claim = await own(store, 'a');
    jest.advanceTimersByTime(30_000);
    expect(await claim.extend?.(20_000)).toBe(true);
    expect(await store.claim('a', options)).toEqual({ state: 'busy', retryAfterMs: 20_000 });
    expect(await claim.done()).toBe(true);
  });

  test('an extended lease counts from the extension', async () => {
    const store = memoryStore();
    const claim = await own(store, 'a');
    jest.advanceTimersByTime(15_000);
    expect(await claim.extend?.(20_000)).toBe(true);
    jest.advanceTimersByTime(19_999);
    expect(await store.claim('a', options)).toEqual({ state: 'busy', retryAfterMs: 1 });
    jest.advanceTimersByTime(1);
    expect(await store.claim('a', options)).toMatchObject({ state: 'mine' });
  });

  test('`done` tells the truth when it is asked again', async () => {
    const store = memoryStore();
    const claim = await own(store, 'a');
    expect(await claim.done()).toBe(true);
    expect(await claim.done()).toBe(true);
    await claim.release();
    expect(await store.claim('a', options)).toEqual({ state: 'done' });
  });

  test('a done id is forgotten after the retention, and not before', async () => {
    const store = memoryStore();
    await (await own(store, 'a')).done();
    jest.advanceTimersByTime(options.retentionMs - 1);
    expect(await store.claim('a', options)).toEqual({ state: 'done' });
    jest.advanceTimersByTime(1);
    expect(await store.claim('a', options)).toMatchObject({ state: 'mine' });
  });

  test('ids are opaque and case-sensitive', async () => {
    const store = memoryStore();
    for (const id of ['a', 'A', 'é', 'e\u0301', '__proto__', 'constructor', ' a', 'a '])
      await (await own(store, id)).done();
    expect(store.size).toBe(8);
  });

  test('of many copies in one tick one is granted', async () => {
    const store = memoryStore();
    const claims = await Promise.all(Array.from({ length: 50 }, () => store.claim('a', options)));
    expect(claims.map((claim) => claim.state).sort()).toEqual([...Array(49).fill('busy'), 'mine']);
  });

  test('never holds more than `maxIds`; the oldest done ones go first', async () => {
    const store = memoryStore({ maxIds: 3 });
    for (const id of ['a', 'b', 'c']) await (await own(store, id)).done();
    await (await own(store, 'd')).done();
    expect(store.size).toBe(3);
    expect(await store.claim('b', options)).toEqual({ state: 'done' });
    expect(await store.claim('a', options)).toMatchObject({ state: 'mine' });
    expect(store.size).toBe(3);
  });

  test('never gives up a running claim for room', async () => {
    const store = memoryStore({ maxIds: 2 });
    const first = await own(store, 'a');
    await own(store, 'b');
    expect(await thrownBy(() => store.claim('c', options))).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('maxIds'),
    });
    await first.release();
    await own(store, 'c');
    expect(store.size).toBe(2);
  });

  test('makes room from leases that ran out', async () => {
    const store = memoryStore({ maxIds: 2 });
    await own(store, 'a');
    await own(store, 'b');
    jest.advanceTimersByTime(20_000);
    await own(store, 'c');
    expect(store.size).toBe(1);
  });

  test('makes room from ids past their retention, though there is space', async () => {
    const store = memoryStore();
    for (const id of ['a', 'b', 'c']) await (await own(store, id)).done();
    jest.advanceTimersByTime(options.retentionMs);
    await own(store, 'd');
    expect(store.size).toBe(1);
  });

  test('`forget` frees an id, done or running', async () => {
    const store = memoryStore();
    await (await own(store, 'a')).done();
    expect(await store.forget('a')).toBe(true);
    expect(await store.forget('a')).toBe(false);
    const running = await own(store, 'a');
    expect(await store.forget('a')).toBe(true);
    expect(await running.done()).toBe(false);
    expect(store.size).toBe(0);
  });

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '10', null])(
    'refuses %p as `maxIds`',
    async (maxIds) => {
      expect(await thrownBy(() => memoryStore({ maxIds: maxIds as number }))).toMatchObject({
        code: 'config_error',
        message: expect.stringContaining('maxIds'),
      });
    },
  );
});

describe('the set of known ids', () => {
  test('remembers for a minute', () => {
    const known = doneCache();
    expect(known.has('a')).toBe(false);
    known.add('a');
    jest.advanceTimersByTime(59_999);
    expect(known.has('a')).toBe(true);
    jest.advanceTimersByTime(1);
    expect(known.has('a')).toBe(false);
  });

  test('counts from the last time that an id was added', () => {
    const known = doneCache();
    known.add('a');
    jest.advanceTimersByTime(30_000);
    known.add('a');
    jest.advanceTimersByTime(30_001);
    expect(known.has('a')).toBe(true);
  });

  test('holds 10 000 ids; the one added longest ago goes first', () => {
    const known = doneCache();
    for (let i = 0; i < 10_000; i++) known.add(`id ${i}`);
    known.add('id 0');
    known.add('one more');
    expect(known.has('id 0')).toBe(true);
    expect(known.has('id 1')).toBe(false);
    expect(known.has('id 2')).toBe(true);
    expect(known.has('one more')).toBe(true);
  });
});
