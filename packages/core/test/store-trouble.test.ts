import { describe, expect, jest, test } from '@jest/globals';
import { type Context, FactuareaWebhookError, memoryStore, type Store } from '../src/index.ts';
import { body, codes, never, pass, setUp, useClock } from './on-a-clock.ts';
import { deferred, delivery, type WatchedStore, watchedStore } from './support.ts';

useClock();

describe('a store in trouble', () => {
  test.each<[string, Store['claim']]>([
    ['rejects', () => Promise.reject(new Error('ECONNREFUSED'))],
    ['rejects with nothing', () => Promise.reject(undefined)],
    [
      'throws',
      () => {
        throw new Error('closed');
      },
    ],
  ])('that %s is answered 503 at once', async (_name, claim) => {
    const handler = jest.fn();
    const { send, outcomes } = setUp({ handler }, watchedStore(undefined, { claim }));
    const sent = await send();
    expect([sent.answer?.status, ...codes(sent)]).toEqual([503, 'store_unavailable']);
    expect(outcomes).toHaveLength(1);
    expect(handler).not.toHaveBeenCalled();
  });

  test.each([
    [undefined, 2000],
    [0.5, 500],
  ])('that hangs is answered 503 within its limit (%p s)', async (storeTimeoutSeconds, limit) => {
    const handler = jest.fn();
    const { send } = setUp({ handler, storeTimeoutSeconds }, watchedStore(undefined, { claim: () => never }));
    const sent = await send();
    await pass(limit - 1);
    expect(sent.answer).toBeUndefined();
    await pass(1);
    expect([sent.answer?.status, ...codes(sent)]).toEqual([503, 'store_unavailable']);
    expect(handler).not.toHaveBeenCalled();
  });

  test('never holds the answer beyond the deadline', async () => {
    const signed = await delivery(body);
    const slow = () =>
      new Promise<Uint8Array>((resolve) => setTimeout(() => resolve(new TextEncoder().encode(body)), 8500));
    const { send } = setUp({ handler: () => {} }, watchedStore(undefined, { claim: () => never }));
    const sent = await send(undefined, { ...signed, body: slow });
    await pass(9000);
    expect(codes(sent)).toEqual(['store_unavailable']);
  });

  test('that grants a claim too late gets it back, so the retry need not wait for the lease', async () => {
    const inner = memoryStore();
    const handler = jest.fn();
    let wait = 5000;
    const slow: Store = {
      claim: (id, options) =>
        new Promise<void>((resolve) => setTimeout(resolve, wait)).then(() => inner.claim(id, options)),
    };
    const { send, store } = setUp({ handler }, watchedStore(undefined, slow));
    const sent = await send();
    await pass(5000);
    expect(codes(sent)).toEqual(['store_unavailable']);
    expect(store.calls).toEqual(['claim one', 'release']);
    wait = 0;
    const retry = await send();
    await pass(0);
    expect(codes(retry)).toEqual(['handled']);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['fails late', () => Promise.reject(new Error('reset'))],
    ['is busy late', async () => ({ state: 'busy', retryAfterMs: 5 })],
    ['is done late', async () => ({ state: 'done' })],
    [
      'cannot take a late claim back',
      async () => ({ state: 'mine', release: () => Promise.reject(new Error('reset')) }),
    ],
  ])('that %s harms nobody', async (_name, late) => {
    const claim = (() =>
      new Promise<void>((resolve) => setTimeout(resolve, 5000)).then(late)) as unknown as Store['claim'];
    const { send } = setUp({ handler: () => {} }, { calls: [], options: [], claim });
    const sent = await send();
    await pass(6000);
    expect(codes(sent)).toEqual(['store_unavailable']);
  });

  test.each<[string, () => Promise<void>, number]>([
    ['fails', () => Promise.reject(new Error('reset')), 0],
    ['hangs', () => never, 2000],
  ])('that %s to free a claim: 500 all the same, and the log tells', async (_name, release, after) => {
    const { send, logger, outcomes } = setUp(
      {
        handler: () => {
          throw new Error('no');
        },
      },
      watchedStore(() => ({ release })),
    );
    const sent = await send();
    await pass(after);
    expect([sent.answer?.status, ...codes(sent)]).toEqual([500, 'handler_failed']);
    expect(logger.lines.map(({ level, fields }) => [level, fields['code']])).toEqual([
      ['warn', 'release_failed'],
      ['error', 'handler_failed'],
    ]);
    expect(outcomes).toHaveLength(1);
    // The lease is not kept for a run that has ended.
    await pass(20_000);
    const retry = await send();
    await pass(after);
    expect(codes(retry)).toEqual(['handler_failed']);
  });
});

test('a failure just before the deadline is answered in time, though the store hangs', async () => {
  const handler = (): Promise<never> => new Promise((_, reject) => setTimeout(() => reject(new Error('no')), 8999));
  const { send } = setUp(
    { handler },
    watchedStore(() => ({ release: () => never })),
  );
  const sent = await send();
  await pass(8999 + 499);
  expect(sent.answer).toBeUndefined();
  await pass(1);
  expect([sent.answer?.status, ...codes(sent)]).toEqual([500, 'handler_failed']);
  await pass(2000);
});

describe('a mark that cannot be written', () => {
  test('is tried again until it can', async () => {
    let calls = 0;
    const { send, store, outcomes } = setUp(
      { handler: () => {} },
      watchedStore(({ done }) => ({
        done: async () => {
          if (++calls <= 4) throw new Error('refused');
          return done();
        },
      })),
    );
    const sent = await send();
    await pass(50 + 100 + 200 + 400 - 1);
    expect(sent.answer).toBeUndefined();
    await pass(1);
    expect(codes(sent)).toEqual(['handled']);
    expect(store.calls).toEqual(['claim one', ...Array(5).fill('done')]);
    expect(outcomes).toHaveLength(1);
    expect(codes(await send())).toEqual(['repeat']);
  });

  test.each<[string, () => Promise<boolean>]>([
    ['fails', () => Promise.reject(new Error('refused'))],
    ['hangs', () => never],
  ])('for good (it %s): 200 at the deadline, since a 5xx would make a second run certain', async (_name, done) => {
    const { send, logger, store, outcomes } = setUp(
      { handler: () => {} },
      watchedStore(() => ({ done })),
    );
    const sent = await send();
    await pass(8999);
    expect(sent.answer).toBeUndefined();
    await pass(1);
    expect([sent.answer?.status, ...codes(sent)]).toEqual([200, 'handled_unrecorded']);
    expect(outcomes[0]).toMatchObject({ code: 'handled_unrecorded', error: expect.any(Error) });
    // Tried for as long as a lease, held all the while, and then reported for the log.
    await pass(25_000);
    expect(store.calls.filter((call) => call === 'done').length).toBeGreaterThan(4);
    expect(store.calls.filter((call) => call === 'extend').length).toBeGreaterThan(0);
    expect(logger.lines.map(({ level, fields: { code, late } }) => [level, code, late])).toEqual([
      ['error', 'handled_unrecorded', undefined],
      ['error', 'handled_unrecorded', true],
    ]);
  });

  test('that can be after the answer is told to the log, and the next copy is a repeat', async () => {
    let broken = true;
    const handler = jest.fn();
    const { send, logger } = setUp(
      { handler },
      watchedStore(({ done }) => ({ done: async () => (broken ? Promise.reject(new Error('refused')) : done()) })),
    );
    const sent = await send();
    await pass(9000);
    expect(codes(sent)).toEqual(['handled_unrecorded']);
    expect(codes(await send())).toEqual(['in_progress']);
    broken = false;
    await pass(10_000);
    expect(logger.lines.at(-1)).toMatchObject({ fields: { code: 'handled', late: true } });
    expect(codes(await send())).toEqual(['repeat']);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test('because the claim was lost: 200, reported, and not remembered here', async () => {
    const { send, logger, store } = setUp(
      { handler: () => {} },
      watchedStore(() => ({ done: async () => false })),
    );
    expect(codes(await send())).toEqual(['handled_unrecorded']);
    expect(logger.lines).toMatchObject([{ level: 'error', fields: { reason: 'lease_lost' } }]);
    await send();
    expect(store.calls).toEqual(['claim one', 'done', 'claim one']);
  });
});

describe('a transaction', () => {
  const transaction = (done: () => Promise<boolean>, more = {}): WatchedStore =>
    watchedStore(() => ({ tx: { query: 1 } as never, extend: undefined as never, done, ...more }));
  const failure = (code: 'commit_failed' | 'commit_rolled_back'): Promise<never> =>
    Promise.reject(new FactuareaWebhookError(code, 'COMMIT'));

  test.each<[string, () => Promise<boolean>, number, string]>([
    ['commits', async () => true, 200, 'handled'],
    ['was rolled back', () => failure('commit_rolled_back'), 500, 'commit_failed'],
    ['failed to commit, or nobody knows', () => failure('commit_failed'), 503, 'commit_failed'],
    ['failed with something else', () => Promise.reject(new Error('reset')), 503, 'commit_failed'],
    ['failed with nothing', () => Promise.reject(undefined), 503, 'commit_failed'],
    [
      'threw',
      () => {
        throw new Error('closed');
      },
      503,
      'commit_failed',
    ],
    ['was lost', async () => false, 503, 'commit_failed'],
  ])('that %s is answered, and COMMIT tried once', async (_name, done, status, code) => {
    const handler = jest.fn<(event: unknown, context: Context) => void>();
    const { send, store } = setUp({ handler }, transaction(done));
    const sent = await send();
    expect([sent.answer?.status, ...codes(sent)]).toEqual([status, code]);
    expect(handler.mock.calls[0]?.[1].tx).toEqual({ query: 1 });
    expect(store.calls).toEqual(['claim one', 'done']);
  });

  test('whose COMMIT hangs is answered 503 before the sender gives up', async () => {
    const committed = deferred<boolean>();
    const { send, logger } = setUp(
      { handler: () => {} },
      transaction(() => committed.promise),
    );
    const sent = await send();
    await pass(8999);
    expect(sent.answer).toBeUndefined();
    await pass(1);
    expect([sent.answer?.status, ...codes(sent)]).toEqual([503, 'commit_failed']);
    committed.resolve(true);
    await pass(0);
    expect(logger.lines.at(-1)).toMatchObject({ fields: { code: 'handled', late: true } });
    expect(codes(await send())).toEqual(['repeat']);
  });

  test('of a handler that ends just before the deadline still has half the margin to commit', async () => {
    const handler = () => new Promise<void>((resolve) => setTimeout(resolve, 8999));
    const done = () => new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 499));
    const { send } = setUp({ handler }, transaction(done));
    const sent = await send();
    await pass(8999 + 499);
    expect(codes(sent)).toEqual(['handled']);
  });

  test('of a handler that fails is rolled back, not committed', async () => {
    const { send, store } = setUp(
      {
        handler: () => {
          throw new Error('no');
        },
      },
      transaction(async () => true),
    );
    expect(codes(await send())).toEqual(['handler_failed']);
    expect(store.calls).toEqual(['claim one', 'release']);
  });

  test('of a handler past its limit is abandoned before anything late can commit', async () => {
    const running = deferred();
    let abandoned = false;
    const done = () => (abandoned ? failure('commit_rolled_back') : Promise.resolve(true));
    const abandon = async (): Promise<void> => {
      abandoned = true;
    };
    const { send, logger } = setUp(
      { handler: () => running.promise, handlerLimitSeconds: 20 },
      transaction(done, { abandon }),
    );
    await send();
    await pass(20_000);
    running.resolve();
    await pass(0);
    expect(logger.lines.at(-1)).toMatchObject({
      level: 'error',
      fields: { code: 'commit_failed', status: 500, late: true },
    });
  });
});

test.each([
  [1, '1'],
  [0, '1'],
  [-5, '1'],
  [1000, '1'],
  [1001, '2'],
  [45_000, '45'],
])('a claim that is busy for %i ms more asks for a retry after %s s', async (retryAfterMs, header) => {
  const { send } = setUp(
    { handler() {} },
    watchedStore(undefined, { claim: async () => ({ state: 'busy', retryAfterMs }) }),
  );
  expect((await send()).answer?.headers['retry-after']).toBe(header);
});
