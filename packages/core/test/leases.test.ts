import { describe, expect, jest, test } from '@jest/globals';
import { type FactuareaWebhookError, memoryStore, type Store } from '../src/index.ts';
import { codes, never, pass, setUp, useClock } from './on-a-clock.ts';
import { deferred, type WatchedStore, watchedStore } from './support.ts';

useClock();

describe('keeping a lease', () => {
  const run = (parts: Parameters<typeof watchedStore>[0], store = watchedStore(parts)) => {
    const running = deferred();
    let signal: AbortSignal | undefined;
    const all = setUp(
      {
        handler: (_event, context) => {
          signal = context.signal;
          return running.promise;
        },
      },
      store,
    );
    return { ...all, running, aborted: () => signal?.reason && (signal.reason as FactuareaWebhookError).code };
  };
  const extensions = ({ calls }: WatchedStore): number => calls.filter((call) => call === 'extend').length;

  test('extends it every third while the handler runs, and not afterwards', async () => {
    const asked: number[] = [];
    const { send, store, running, aborted } = run(({ extend }) => ({
      extend: async (ms) => {
        asked.push(ms);
        return extend?.(ms) ?? false;
      },
    }));
    await send();
    await pass(6665);
    expect(asked).toEqual([]);
    await pass(2);
    expect(asked).toEqual([20_000]);
    await pass(20_000);
    expect(asked).toEqual(Array(4).fill(20_000));
    expect(codes(await send())).toEqual(['in_progress']);
    running.resolve();
    await pass(60_000);
    expect(extensions(store)).toBe(4);
    expect(aborted()).toBeUndefined();
  });

  test('is not done for a handler that is quick', async () => {
    const { send, store, running } = run(() => ({}));
    const sent = await send();
    running.resolve();
    await pass(60_000);
    expect(codes(sent)).toEqual(['handled']);
    expect(extensions(store)).toBe(0);
  });

  test('aborts at once when another has it', async () => {
    const { send, store, running, aborted, logger } = run(() => ({
      extend: async () => false,
      done: async () => false,
    }));
    await send();
    await pass(6667);
    expect(aborted()).toBe('lease_lost');
    running.resolve();
    await pass(60_000);
    expect(extensions(store)).toBe(1);
    expect(logger.lines).toMatchObject([
      { level: 'error', fields: { code: 'handled_unrecorded', reason: 'lease_lost', status: 200 } },
    ]);
  });

  test.each<[string, () => Promise<boolean>]>([
    ['fails', () => Promise.reject(new Error('refused'))],
    ['never answers', () => never],
    ['answers with nothing', async () => undefined as unknown as boolean],
  ])('when the store %s, goes on trying until the lease has run out', async (_name, extend) => {
    const { send, store, running, aborted } = run(() => ({ extend }));
    await send();
    await pass(19_999);
    expect(aborted()).toBeUndefined();
    expect(extensions(store)).toBeGreaterThan(3);
    await pass(1);
    expect(aborted()).toBe('lease_lost');
    const tried = extensions(store);
    running.resolve();
    await pass(60_000);
    expect(extensions(store)).toBe(tried);
  });

  test('a store that comes back in time is enough', async () => {
    let calls = 0;
    const { send, running, aborted } = run(({ extend }) => ({
      extend: async (ms) => {
        if (++calls <= 3) throw new Error('refused');
        return extend?.(ms) ?? false;
      },
    }));
    await send();
    await pass(30_000);
    expect(calls).toBeGreaterThan(4);
    expect(aborted()).toBeUndefined();
    running.resolve();
    await pass(0);
  });

  test('counts the lease from before it was asked for', async () => {
    const inner = memoryStore();
    const slow: Store = {
      claim: (id, options) =>
        new Promise<void>((resolve) => setTimeout(resolve, 1500)).then(() => inner.claim(id, options)),
    };
    const { send, running, aborted } = run(
      undefined,
      watchedStore(() => ({ extend: () => never }), slow),
    );
    await send();
    await pass(19_999);
    expect(aborted()).toBeUndefined();
    await pass(1);
    expect(aborted()).toBe('lease_lost');
    running.resolve();
    await pass(5000);
  });

  test('is left to a store that has no need of it', async () => {
    const { send, running, aborted } = run(() => ({ extend: undefined as never }));
    await send();
    await pass(60_000);
    expect(aborted()).toBeUndefined();
    running.resolve();
    await pass(0);
  });
});

test('an event whose process died is taken up when its lease has run out', async () => {
  const store = memoryStore();
  await store.claim('one', { leaseMs: 20_000, retentionMs: 7 * 86_400_000 });
  const handler = jest.fn();
  const { send } = setUp({ handler, store });
  await pass(1000);
  const early = await send();
  expect(early.answer).toMatchObject({ status: 503, headers: { 'retry-after': '19' } });
  await pass(20_000);
  expect(codes(early, await send(), await send())).toEqual(['in_progress', 'handled', 'repeat']);
  expect(handler).toHaveBeenCalledTimes(1);
});
