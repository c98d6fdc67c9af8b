import { describe, expect, jest, test } from '@jest/globals';
import { type Context, FactuareaWebhookError, hasCode } from '../src/index.ts';
import { body, codes, never, pass, setUp, useClock } from './on-a-clock.ts';
import { deferred, delivery, type TestRequest, watchedStore } from './support.ts';

useClock();

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
    // Not only once it is late: a platform may end the work of a sender that has left.
    expect(request.kept).toHaveLength(1);
    await pass(9000);
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
  test('aborts a signal that is looked at only afterwards', async () => {
    let copy: (() => Context) | undefined;
    const { send } = setUp({
      handlerLimitSeconds: 30,
      handler: (_event, context) => {
        copy = () => ({ ...context });
        return never;
      },
    });
    await send();
    await pass(30_000);
    expect(copy?.().signal.aborted).toBe(true);
    expect(hasCode(copy?.().signal.reason, 'handler_limit')).toBe(true);
  });

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
    // A copy has it too, whenever it is made and first looked at.
    expect({ ...(context as Context) }.signal).toBe(context?.signal);
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

  test('a copy that comes while the route works is answered 503, and 200 once it has answered', async () => {
    const running = deferred<number>();
    const route = jest.fn(() => running.promise);
    const { send } = setUp();
    const first = await send(route);
    await pass(50_000);
    expect(codes(first, await send(route))).toEqual([undefined, 'in_progress']);
    running.resolve(204);
    await pass(0);
    expect(first.answer).toEqual({ status: 204, headers: {}, body: null });
    expect(codes(await send(route))).toEqual(['repeat']);
    expect(route).toHaveBeenCalledTimes(1);
  });

  test('a route that never answers holds its event until the handler’s limit', async () => {
    let signal: AbortSignal | undefined;
    const abandon = jest.fn(async () => {});
    const { send, store, logger, outcomes } = setUp(
      { handlerLimitSeconds: 30 },
      watchedStore(() => ({ abandon })),
    );
    const sent = await send((_event, context) => {
      signal = context.signal;
      return never;
    });
    await pass(29_999);
    expect([sent.answer, signal?.aborted, codes(await send(() => 200))]).toEqual([undefined, false, ['in_progress']]);
    await pass(1);
    expect(sent.answer).toEqual({
      status: 503,
      headers: { 'content-type': 'application/json' },
      body: '{"code":"deadline_exceeded"}',
    });
    expect(outcomes.at(-1)).toMatchObject({ code: 'deadline_exceeded', reason: 'route_limit' });
    expect(hasCode(signal?.reason, 'handler_limit')).toBe(true);
    expect(abandon).toHaveBeenCalledTimes(1);
    await expect(Promise.all(sent.request.kept)).resolves.toHaveLength(1);
    // Its lease is extended no more: it is the last thing to run out.
    await pass(20_000);
    expect((await send(() => 200)).answer).toMatchObject({ status: 200, body: null });
    expect(store.calls.slice(-2)).toEqual(['claim one', 'done']);
    expect(logger.lines.filter(({ fields }) => fields['late'])).toEqual([]);
  });

  test('a route that succeeds after the limit is recorded, if no other run has begun', async () => {
    const running = deferred<number>();
    const { send, logger } = setUp({ handlerLimitSeconds: 30 });
    const sent = await send(() => running.promise);
    await pass(31_000);
    running.resolve(200);
    await pass(0);
    expect(logger.lines.at(-1)).toMatchObject({ fields: { code: 'handled', late: true } });
    expect(codes(sent, await send(() => 200))).toEqual(['deadline_exceeded', 'repeat']);
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
