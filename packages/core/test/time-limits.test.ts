import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  type Context,
  createReceiver,
  FactuareaWebhookError,
  hasCode,
  memoryStore,
  type Outcome,
  type Outgoing,
  type ReceiverOptions,
  type Route,
  type Store,
} from '../src/index.ts';
import {
  codeOf,
  deferred,
  delivery,
  keepingLogger,
  NOW,
  SECRET,
  type TestRequest,
  type WatchedStore,
  watchedStore,
} from './support.ts';

// At the sender's limit of 10 s: an answer at 9 s at the latest, a lease of 20 s that is extended every 6⅔ s, 2 s for a
// call to the store, 120 s for a handler.
const body = '{"id":"one","type":"invoice.sent"}';
const never = new Promise<never>(() => {});
const unhandled: unknown[] = [];
const listen = (reason: unknown): void => void unhandled.push(reason);

beforeEach(() => {
  jest.useFakeTimers();
  process.on('unhandledRejection', listen);
});
afterEach(() => {
  process.off('unhandledRejection', listen);
  expect(unhandled.splice(0)).toEqual([]);
  // Whatever was started has been stopped.
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

function setUp(options: ReceiverOptions = {}, store: WatchedStore = watchedStore()) {
  const logger = keepingLogger();
  const outcomes: Outcome[] = [];
  const receiver = createReceiver({
    secret: SECRET,
    store,
    logger,
    nowSeconds: () => NOW,
    onOutcome: (outcome) => outcomes.push(outcome),
    ...options,
  });
  /** Sends a delivery, and gives what is known of its answer at any time. */
  const send = async (route?: Route, incoming?: TestRequest) => {
    const request = incoming ?? (await delivery(body));
    const sent: { answer: Outgoing | undefined; request: TestRequest } = { answer: undefined, request };
    receiver.receive(request, route).then((answer) => {
      sent.answer = answer;
    });
    await pass(0);
    return sent;
  };
  return { send, store, logger, outcomes };
}

const codes = (...sent: { answer: Outgoing | undefined }[]): (string | undefined)[] =>
  sent.map(({ answer }) => answer && codeOf(answer));

describe('the deadline of the answer', () => {
  test.each([
    [1, 700],
    [3, 2700],
    [10, 9000],
    [30, 27_000],
  ])('with a sender’s limit of %i s comes after %i ms', async (timeoutSeconds, deadline) => {
    const running = deferred();
    const { send, outcomes } = setUp({ timeoutSeconds, handler: () => running.promise });
    const sent = await send();
    await pass(deadline - 1);
    expect(sent.answer).toBeUndefined();
    await pass(1);
    expect(sent.answer).toEqual({
      status: 503,
      headers: { 'content-type': 'application/json' },
      body: '{"code":"deadline_exceeded"}',
    });
    expect(outcomes.map((outcome) => outcome.code)).toEqual(['deadline_exceeded']);
    running.resolve();
    await pass(0);
  });

  test('a late success is recorded, and the retry is answered 200', async () => {
    const running = deferred();
    const handler = jest.fn(() => running.promise);
    const { send, store, logger, outcomes } = setUp({ handler });
    const first = await send();
    await pass(9000);
    const copy = await send();
    expect(codes(first, copy)).toEqual(['deadline_exceeded', 'in_progress']);
    await pass(6000);
    running.resolve();
    await pass(0);
    expect(codes(await send())).toEqual(['repeat']);
    expect(handler).toHaveBeenCalledTimes(1);
    expect(store.calls.filter((call) => call !== 'extend')).toEqual(['claim one', 'claim one', 'done']);
    expect(logger.lines.map(({ fields: { code, late } }) => [code, late])).toEqual([
      ['deadline_exceeded', undefined],
      ['in_progress', undefined],
      ['handled', true],
      ['repeat', undefined],
    ]);
    // Once per request: what comes late is for the log.
    expect(outcomes.map(({ code }) => code)).toEqual(['deadline_exceeded', 'in_progress', 'repeat']);
  });

  test('a late failure frees the event, and the retry handles it', async () => {
    const running = deferred();
    const handler = jest.fn<() => unknown>(() => {}).mockReturnValueOnce(running.promise);
    const { send, store, logger } = setUp({ handler });
    const first = await send();
    await pass(15_000);
    running.reject(new Error('no'));
    await pass(0);
    expect(codes(first, await send())).toEqual(['deadline_exceeded', 'handled']);
    expect(store.calls.filter((call) => call !== 'extend')).toEqual(['claim one', 'release', 'claim one', 'done']);
    expect(logger.lines[1]).toMatchObject({ level: 'error', fields: { code: 'handler_failed', late: true } });
  });

  test('counts from the request’s arrival, a slow body included', async () => {
    const { send, store } = setUp({ handler: () => never, handlerLimitSeconds: 10 });
    const signed = await delivery(body);
    const slow = {
      ...signed,
      body: () => new Promise<void>((resolve) => setTimeout(resolve, 4000)).then(() => signed.body(99)),
    };
    const sent = await send(undefined, slow);
    await pass(4000);
    expect(store.calls).toEqual(['claim one']);
    await pass(4999);
    expect(sent.answer).toBeUndefined();
    await pass(1);
    expect(codes(sent)).toEqual(['deadline_exceeded']);
    await pass(10_000);
  });

  test('ends a body that never does', async () => {
    const { send, store } = setUp({ handler: () => {} });
    const sent = await send(undefined, { ...(await delivery(body)), body: () => never });
    await pass(8999);
    expect(sent.answer).toBeUndefined();
    await pass(1);
    expect(sent.answer?.status).toBe(503);
    expect(codes(sent)).toEqual(['body_incomplete']);
    expect(store.calls).toEqual([]);
  });

  test('keeps the platform awake until the handler has ended', async () => {
    const running = deferred();
    const { send } = setUp({ handler: () => running.promise });
    const { request } = await send();
    expect(request.kept).toEqual([]);
    await pass(9000);
    expect(request.kept).toHaveLength(1);
    let awake = true;
    request.kept[0]?.then(() => {
      awake = false;
    });
    await pass(1000);
    expect(awake).toBe(true);
    running.resolve();
    await pass(0);
    expect(awake).toBe(false);
  });

  test.each<[string, Partial<TestRequest>]>([
    ['has no such thing', { waitUntil: undefined as never }],
    [
      'throws',
      {
        waitUntil() {
          throw new Error('no context');
        },
      },
    ],
  ])('works where the platform %s', async (_name, platform) => {
    const running = deferred();
    const { send, store } = setUp({ handler: () => running.promise });
    const sent = await send(undefined, { ...(await delivery(body)), ...platform });
    await pass(9000);
    expect(codes(sent)).toEqual(['deadline_exceeded']);
    running.resolve();
    await pass(0);
    expect(store.calls.at(-1)).toBe('done');
  });
});

describe('the limit of a handler', () => {
  test('aborts its signal, and then holds the claim no longer', async () => {
    let context: Context | undefined;
    const abandon = jest.fn(async () => {});
    const store = watchedStore(() => ({ abandon }));
    const { send } = setUp(
      {
        handlerLimitSeconds: 30,
        handler: (_event, given) => {
          context = given;
          return never;
        },
      },
      store,
    );
    const { request } = await send();
    await pass(29_999);
    expect(context?.signal.aborted).toBe(false);
    expect(codes(await send())).toEqual(['in_progress']);
    await pass(1);
    expect(context?.signal.aborted).toBe(true);
    expect(hasCode(context?.signal.reason, 'handler_limit')).toBe(true);
    expect(abandon).toHaveBeenCalledTimes(1);
    // The platform may sleep now, though the handler has not ended.
    await expect(Promise.all(request.kept)).resolves.toHaveLength(1);
    const extended = store.calls.filter((call) => call === 'extend').length;
    await pass(60_000);
    expect(store.calls.filter((call) => call === 'extend')).toHaveLength(extended);
  });

  test('lets a success count that comes before the next run', async () => {
    const running = deferred();
    const { send, logger } = setUp({ handlerLimitSeconds: 30, handler: () => running.promise });
    await send();
    await pass(31_000);
    running.resolve();
    await pass(0);
    expect(logger.lines.at(-1)).toMatchObject({ fields: { code: 'handled', late: true } });
    expect(codes(await send())).toEqual(['repeat']);
  });

  test('reports a success that comes after it', async () => {
    const runs = [deferred(), deferred()];
    const fences: number[] = [];
    const { send, logger } = setUp({
      handlerLimitSeconds: 30,
      handler: (_event, { fence }) => runs[fences.push(fence) - 1]?.promise,
    });
    await send();
    await pass(30_000 + 20_000);
    const second = await send();
    runs[0]?.resolve();
    await pass(0);
    expect(logger.lines.at(-1)).toMatchObject({
      level: 'error',
      fields: { code: 'handled_unrecorded', reason: 'lease_lost', late: true },
    });
    runs[1]?.resolve();
    await pass(0);
    expect(codes(second)).toEqual(['handled']);
    expect(fences[1]).toBeGreaterThan(fences[0] as number);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('gone');
      },
    ],
    ['rejects', () => Promise.reject(new Error('gone'))],
    ['never ends', () => never],
  ])('stands when `abandon` %s', async (_name, abandon) => {
    let signal: AbortSignal | undefined;
    const handler = (_event: unknown, context: Context): Promise<never> => {
      signal = context.signal;
      return never;
    };
    const { send } = setUp(
      { handlerLimitSeconds: 1, handler },
      watchedStore(() => ({ abandon })),
    );
    await send();
    await pass(9000);
    expect(signal?.aborted).toBe(true);
  });
});

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

describe('the middleware form', () => {
  test('has no deadline: the app answers', async () => {
    const running = deferred<number>();
    const { send, store } = setUp();
    const sent = await send(() => running.promise);
    await pass(60_000);
    expect(sent.answer).toBeUndefined();
    running.resolve(201);
    await pass(0);
    expect(sent.answer).toEqual({ status: 201, headers: {}, body: null });
    expect(store.calls.at(-1)).toBe('done');
  });

  test('aborts the signal of a route past its limit', async () => {
    let signal: AbortSignal | undefined;
    const { send } = setUp({ handlerLimitSeconds: 5 });
    await send((_event, context) => {
      signal = context.signal;
      return never;
    });
    await pass(5000);
    expect(signal?.aborted).toBe(true);
  });

  test('waits for the mark no longer than a call to the store may take', async () => {
    const { send } = setUp(
      {},
      watchedStore(() => ({ done: () => never })),
    );
    const sent = await send(() => 204);
    await pass(1999);
    expect(sent.answer).toBeUndefined();
    await pass(1);
    // The route has done its work, so its own answer goes out; the log tells the rest.
    expect(sent.answer).toEqual({ status: 204, headers: {}, body: null });
    await pass(25_000);
  });

  test('discards the route’s answer when its transaction did not commit', async () => {
    const done = () => Promise.reject(new FactuareaWebhookError('commit_rolled_back', 'COMMIT'));
    const { send } = setUp(
      {},
      watchedStore(() => ({ tx: {} as never, done })),
    );
    expect((await send(() => 200)).answer).toEqual({
      status: 500,
      headers: { 'content-type': 'application/json' },
      body: '{"code":"commit_failed"}',
    });
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
