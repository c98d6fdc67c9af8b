import { describe, expect, test } from '@jest/globals';
import {
  type Context,
  createReceiver,
  type FactuareaEvent,
  FactuareaWebhookError,
  memoryStore,
  type Outcome,
  PermanentFailure,
  type ReceiverOptions,
  type Route,
} from '../src/index.ts';
import {
  bodyOf,
  codeOf,
  deferred,
  delivery,
  keepingLogger,
  NOW,
  OLDER_SECRET,
  request,
  SECRET,
  thenable,
  watchedStore,
} from './support.ts';

const body = '{"id":"one","type":"invoice.sent","data":{"invoice":{"id":"inv-1"}}}';

const hostile = (): never => {
  throw new Error('hostile');
};

function setUp(options: ReceiverOptions = {}) {
  const store = watchedStore();
  const logger = keepingLogger();
  const outcomes: Outcome[] = [];
  const events: string[] = [];
  const receiver = createReceiver({
    secret: SECRET,
    store,
    logger,
    nowSeconds: () => NOW,
    onOutcome: (outcome) => outcomes.push(outcome),
    ...(!('on' in options) && { handler: (event) => events.push(event.id) }),
    ...options,
  });
  return { receiver, store, logger, outcomes, events };
}

describe('refused before anything is asked of the store', () => {
  const good = { 'content-type': 'application/json' };
  test.each<[string, number, string, string | undefined, () => ReturnType<typeof delivery>]>([
    ['no signature', 401, 'invalid_signature', 'signature_missing', async () => request({ body, headers: good })],
    [
      'an unreadable signature',
      401,
      'invalid_signature',
      'signature_malformed',
      async () => request({ body, headers: { 'factuarea-signature': 'sha256=00' } }),
    ],
    [
      'two signature headers',
      401,
      'invalid_signature',
      'signature_malformed',
      async () => request({ body, headers: { 'factuarea-signature': ['t=1,v1=a', 't=1,v1=a'] } }),
    ],
    ['an older secret', 401, 'invalid_signature', 'signature_mismatch', () => delivery(body, { secret: OLDER_SECRET })],
    [
      'a stale signature',
      401,
      'invalid_signature',
      'timestamp_out_of_tolerance',
      () => delivery(body, { timestamp: NOW - 301 }),
    ],
    [
      'a compressed body',
      415,
      'unsupported_encoding',
      undefined,
      () => delivery(body, { headers: { 'content-encoding': 'gzip' } }),
    ],
    [
      'a body compressed twice',
      415,
      'unsupported_encoding',
      undefined,
      () => delivery(body, { headers: { 'content-encoding': 'identity, br' } }),
    ],
    [
      'a body declared too large',
      413,
      'body_too_large',
      '1048577 bytes declared',
      () => delivery(body, { headers: { 'content-length': '1048577' } }),
    ],
    ['no JSON', 400, 'invalid_event', 'not_json', () => delivery('id=one')],
    ['nothing', 400, 'invalid_event', 'not_json', () => delivery('')],
    ['no object', 400, 'invalid_event', 'not_an_object', () => delivery('[]')],
    ['an event without an id', 400, 'invalid_event', 'bad_id', () => delivery('{"type":"invoice.sent"}')],
    ['an event without a type', 400, 'invalid_event', 'bad_type', () => delivery('{"id":"one"}')],
  ])('%s: %i %s (%s)', async (_name, status, code, reason, make) => {
    const { receiver, store, events, outcomes } = setUp();
    const answer = await receiver.receive(await make());
    expect(answer).toEqual({ status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ code }) });
    expect(outcomes).toMatchObject([{ code, status, reason, message: expect.any(String) }]);
    expect(store.calls).toEqual([]);
    expect(events).toEqual([]);
  });

  test('a body without a readable signature is not even read', async () => {
    const { receiver } = setUp();
    for (const signature of ['', 'garbage', `t=${NOW - 301},v1=${'0'.repeat(64)}`, `t=${NOW}`]) {
      const incoming = request({ body, headers: { 'factuarea-signature': signature } });
      expect((await receiver.receive(incoming)).status).toBe(401);
      expect(incoming.reads).toBe(0);
    }
  });

  test.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'post', ''])('%s is no POST', async (method) => {
    const { receiver, store, events } = setUp();
    for (const incoming of [await delivery(body, { method }), request({ method })]) {
      expect(await receiver.receive(incoming)).toEqual({
        status: 405,
        headers: { 'content-type': 'application/json', allow: 'POST' },
        body: '{"code":"method_not_allowed"}',
      });
      expect(incoming.reads).toBe(0);
    }
    expect([...store.calls, ...events]).toEqual([]);
  });

  test.each([
    ['body_too_large', 413],
    ['body_unavailable', 500],
    ['body_incomplete', 503],
  ] as const)('a reader that gives %s: %i', async (code, status) => {
    const { receiver, store } = setUp();
    const signed = await delivery(body);
    const error = new FactuareaWebhookError(code, 'read');
    const answer = await receiver.receive({ ...signed, body: () => Promise.reject(error) });
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
    expect(store.calls).toEqual([]);
  });

  test.each([
    ['rejects with anything else', () => Promise.reject(new Error('reset'))],
    ['rejects with nothing', () => Promise.reject(undefined)],
    [
      'throws',
      () => {
        throw new Error('reset');
      },
    ],
  ])('a reader that %s: Factuarea tries again', async (_name, read) => {
    const { receiver, store } = setUp();
    const answer = await receiver.receive({ ...(await delivery(body)), body: read as () => Promise<Uint8Array> });
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(store.calls).toEqual([]);
  });

  test('a body cut on the way is retried; one that is whole and wrong is not', async () => {
    const { receiver, outcomes } = setUp();
    const cut = await delivery(body, { headers: { 'content-length': String(body.length) } });
    const answer = await receiver.receive({ ...cut, body: async () => new TextEncoder().encode(body.slice(0, 40)) });
    expect([answer.status, codeOf(answer)]).toEqual([503, 'body_incomplete']);
    expect(outcomes[0]?.reason).toBe(`40 of ${body.length} bytes`);
    const wrong = await delivery(body, { headers: { 'content-length': '5' }, secret: OLDER_SECRET });
    expect((await receiver.receive(wrong)).status).toBe(401);
  });

  test('the signature counts, and a wrong length beside it does not', async () => {
    const { receiver } = setUp();
    for (const length of ['9999', '1', 'NaN', '-1', '', '12, 12']) {
      const id = `length ${length}`.replaceAll(' ', '-');
      const answer = await receiver.receive(
        await delivery(`{"id":"${id}","type":"a.b"}`, { headers: { 'content-length': length } }),
      );
      expect(codeOf(answer)).toBe('handled');
    }
  });

  test.each(['identity', 'Identity', '', ' identity ', undefined])('content-encoding %j is none', async (encoding) => {
    const { receiver } = setUp();
    expect((await receiver.receive(await delivery(body, { headers: { 'content-encoding': encoding } }))).status).toBe(
      200,
    );
  });

  test.each(['application/json; charset=iso-8859-1', 'text/plain', '', undefined])(
    'content-type %j does not matter',
    async (type) => {
      const { receiver } = setUp();
      expect((await receiver.receive(await delivery(body, { headers: { 'content-type': type } }))).status).toBe(200);
    },
  );
});

describe('one event', () => {
  test('is handled, and every repeat answered 200', async () => {
    const { receiver, store, events, outcomes } = setUp();
    expect(await receiver.receive(await delivery(body))).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '{"code":"handled"}',
    });
    for (let i = 0; i < 3; i++) expect(codeOf(await receiver.receive(await delivery(body)))).toBe('repeat');
    expect(events).toEqual(['one']);
    expect(store.calls).toEqual(['claim one', 'done']);
    expect(outcomes.map((outcome) => outcome.code)).toEqual(['handled', 'repeat', 'repeat', 'repeat']);
  });

  test('is asked of the store each time without the cache', async () => {
    const { receiver, store, events } = setUp({ cache: false });
    for (let i = 0; i < 3; i++) await receiver.receive(await delivery(body));
    expect(events).toEqual(['one']);
    expect(store.calls).toEqual(['claim one', 'done', 'claim one', 'claim one']);
  });

  test('that another process has handled is a repeat, and then known', async () => {
    const shared = memoryStore();
    const first = setUp({ store: shared });
    const store = watchedStore(undefined, shared);
    const second = setUp({ store });
    await first.receiver.receive(await delivery(body));
    for (let i = 0; i < 2; i++) expect(codeOf(await second.receiver.receive(await delivery(body)))).toBe('repeat');
    expect(store.calls).toEqual(['claim one']);
    expect(second.events).toEqual([]);
  });

  test('from both endpoints at the same moment has one effect', async () => {
    const effects: string[] = [];
    const { receiver } = setUp({
      secret: { company: SECRET, account: OLDER_SECRET },
      handler: async (event, { delivery: { endpoint } }) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        effects.push(`${event.id} by ${endpoint}`);
      },
    });
    const envelopes = [
      delivery('{"id":"one","type":"invoice.sent","data":{}}'),
      delivery('{"id":"one","type":"invoice.sent","account":{"id":"a"},"data":{}}', { secret: OLDER_SECRET }),
    ];
    const answers = await Promise.all((await Promise.all(envelopes)).map((copy) => receiver.receive(copy)));
    expect(answers.map(codeOf)).toEqual(['handled', 'in_progress']);
    expect(answers[1]).toMatchObject({ status: 503, headers: { 'retry-after': expect.stringMatching(/^(19|20)$/) } });
    expect(effects).toEqual(['one by company']);
  });

  test('of fifty copies in one tick is handled once, and the others come again', async () => {
    const running = deferred();
    const { receiver, events } = setUp({ handler: (event) => running.promise.then(() => events.push(event.id)) });
    const copies = await Promise.all(Array.from({ length: 50 }, () => delivery(body)));
    const answering = Promise.all(copies.map((copy) => receiver.receive(copy)));
    setTimeout(running.resolve, 20);
    const codes = (await answering).map(codeOf);
    expect(codes.sort()).toEqual(['handled', ...Array(49).fill('in_progress')]);
    expect(events).toEqual(['one']);
    expect(codeOf(await receiver.receive(await delivery(body)))).toBe('repeat');
  });

  test('is known by its signed id alone', async () => {
    const { receiver, events } = setUp();
    for (const id of ['d-1', 'd-2']) {
      const forged = { 'factuarea-event-id': id, 'factuarea-delivery-id': id, 'idempotency-key': id };
      await receiver.receive(await delivery(body, { headers: forged }));
    }
    expect(events).toEqual(['one']);
  });

  test('with an id in other letters is another event', async () => {
    const { receiver, events } = setUp();
    const ids = ['0F8FAD5B-D9CB-469F-A165-70867728950E', '0f8fad5b-d9cb-469f-a165-70867728950e'];
    for (const id of ids) await receiver.receive(await delivery(`{"id":"${id}","type":"a.b"}`));
    expect(events).toEqual(ids);
  });

  test('is one event for all receivers on one store, and two on two', async () => {
    const shared = memoryStore();
    const [one, two, apart] = [setUp({ store: shared }), setUp({ store: shared, secret: OLDER_SECRET }), setUp()];
    await one.receiver.receive(await delivery(body));
    await two.receiver.receive(await delivery(body, { secret: OLDER_SECRET }));
    await apart.receiver.receive(await delivery(body));
    expect([one.events, two.events, apart.events]).toEqual([['one'], [], ['one']]);
  });

  test('reaches the handler as it stands, with what is known of its delivery', async () => {
    const text = '{"id":"one","type":"invoice.sent","account_relationship":"managed","total":12.50,"data":{}}';
    let given: [FactuareaEvent, Context] | undefined;
    const { receiver } = setUp({
      secret: { company: SECRET },
      handler: (event, context) => {
        given = [event, context];
      },
    });
    await receiver.receive(
      await delivery(text, {
        timestamp: NOW - 7,
        headers: { 'factuarea-delivery-id': 'del-1', 'factuarea-account-relationship': 'own' },
      }),
    );
    expect(given?.[0]).toEqual(JSON.parse(text));
    expect(given?.[1]).toEqual({
      event: given?.[0],
      delivery: {
        id: 'del-1',
        endpoint: 'company',
        relationship: 'managed',
        attemptedAt: new Date((NOW - 7) * 1000),
      },
      tx: undefined,
      fence: 1,
      signal: expect.any(AbortSignal),
    });
    expect(given?.[1].signal.aborted).toBe(false);
  });

  test.each(['', 'a b', 'x'.repeat(256), 'é', 'a\r\nb', ['a', 'b'], undefined])(
    'a delivery id that no log should hold is left out: %j',
    async (id) => {
      const { receiver, outcomes } = setUp();
      await receiver.receive(await delivery(body, { headers: { 'factuarea-delivery-id': id } }));
      expect(outcomes[0]?.deliveryId).toBeUndefined();
    },
  );
});

describe('which handler runs', () => {
  const types = (ran: string[]): NonNullable<ReceiverOptions['on']> => ({
    'invoice.sent': () => ran.push('invoice.sent'),
    'planet.discovered': () => ran.push('planet.discovered'),
    'invoice.paid': undefined,
  });

  test.each([
    ['invoice.sent', 'handled', ['invoice.sent']],
    ['planet.discovered', 'handled', ['planet.discovered']],
    ['invoice.paid', 'ignored', []],
    ['client.created', 'ignored', []],
    ['constructor', 'ignored', []],
    ['__proto__', 'ignored', []],
    ['toString', 'ignored', []],
  ])('without "*": %s is %s', async (type, code, ran) => {
    const called: string[] = [];
    const { receiver, store } = setUp({ on: types(called) });
    const answer = await receiver.receive(await delivery(`{"id":"one","type":"${type}"}`));
    expect([answer.status, codeOf(answer), called]).toEqual([200, code, ran]);
    if (code === 'ignored') expect(store.calls).toEqual([]);
  });

  test('with "*" every other type goes there', async () => {
    const called: string[] = [];
    const { receiver } = setUp({ on: { ...types(called), '*': ({ type }) => called.push(`* ${type}`) } });
    for (const type of ['invoice.sent', 'invoice.paid', 'constructor']) {
      await receiver.receive(await delivery(`{"id":"${type}","type":"${type}"}`));
    }
    expect(called).toEqual(['invoice.sent', '* invoice.paid', '* constructor']);
  });

  test('an ignored event is not recorded, so a handler added later takes its replay', async () => {
    const store = memoryStore();
    const called: string[] = [];
    const early = setUp({ store, on: { 'client.created': () => called.push('client') } });
    await early.receiver.receive(await delivery(body));
    const later = setUp({ store, on: { ...types(called) } });
    expect(codeOf(await later.receiver.receive(await delivery(body)))).toBe('handled');
    expect(called).toEqual(['invoice.sent']);
  });

  test.each<[string, ReceiverOptions, string]>([
    ['a handler of all types', { handler() {} }, 'pong'],
    ['"*"', { on: { '*'() {} } }, 'pong'],
    ['its name', { on: { 'webhook.ping'() {} } }, 'handled'],
  ])('a ping with %s is answered %s', async (_name, options, code) => {
    const { receiver } = setUp(options);
    expect(codeOf(await receiver.receive(await delivery('{"id":"ping","type":"webhook.ping"}')))).toBe(code);
  });

  test('a ping never reaches a route, whatever else is named', async () => {
    const { receiver, store } = setUp({ on: { 'webhook.ping'() {} } });
    let calls = 0;
    const answer = await receiver.receive(await delivery('{"id":"ping","type":"webhook.ping"}'), () => ++calls);
    expect([codeOf(answer), calls, store.calls]).toEqual(['pong', 0, []]);
  });

  test('without a handler and without a route nothing is lost', async () => {
    const { receiver, store } = setUp({ handler: undefined });
    const answer = await receiver.receive(await delivery(body));
    expect([answer.status, codeOf(answer)]).toEqual([500, 'internal_error']);
    expect(store.calls).toEqual([]);
  });
});

describe('a handler that fails', () => {
  const failures: [string, () => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    [
      'throws undefined',
      () => {
        throw undefined;
      },
    ],
    [
      'throws null',
      () => {
        throw null;
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['rejects with undefined', () => Promise.reject(undefined)],
    ['rejects with false', () => Promise.reject(false)],
    ['gives a thenable that rejects', () => thenable((_, reject) => reject(new Error('no')))],
    [
      'throws what cannot be looked at',
      () => {
        throw new Proxy({}, { get: hostile });
      },
    ],
  ];

  test.each(failures)('%s: 500, free at once, and the retry handles it', async (_name, fail) => {
    let calls = 0;
    const { receiver, store } = setUp({ handler: () => (++calls === 1 ? fail() : undefined) });
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await receiver.receive(await delivery(body)));
    expect(answers.map((answer) => [answer.status, codeOf(answer)])).toEqual([
      [500, 'handler_failed'],
      [200, 'handled'],
      [200, 'repeat'],
    ]);
    expect(calls).toBe(2);
    expect(store.calls).toEqual(['claim one', 'release', 'claim one', 'done']);
  });

  test('says so in what is told to the app', async () => {
    const error = new Error('no');
    const { receiver, outcomes, logger } = setUp({ handler: () => Promise.reject(error) });
    await receiver.receive(await delivery(body, { headers: { 'factuarea-delivery-id': 'del-1' } }));
    expect(outcomes).toEqual([
      {
        code: 'handler_failed',
        status: 500,
        reason: undefined,
        message: expect.stringContaining('Factuarea sends the event again'),
        eventId: 'one',
        eventType: 'invoice.sent',
        endpoint: undefined,
        deliveryId: 'del-1',
        durationMs: expect.any(Number),
        error,
      },
    ]);
    expect(logger.lines).toMatchObject([{ level: 'error', fields: { err: error, eventId: 'one' } }]);
  });

  test.each([
    ['ours', () => new PermanentFailure('never')],
    ['that of another copy of the package', () => Object.assign(new Error('never'), { code: 'permanent_failure' })],
  ])('for good (%s): 422, free again, and a replay handles it', async (_name, make) => {
    let calls = 0;
    const { receiver, store } = setUp({
      handler: () => {
        if (++calls === 1) throw make();
      },
    });
    const first = await receiver.receive(await delivery(body));
    expect([first.status, codeOf(first)]).toEqual([422, 'permanent_failure']);
    expect(codeOf(await receiver.receive(await delivery(body)))).toBe('handled');
    expect(store.calls).toEqual(['claim one', 'release', 'claim one', 'done']);
  });

  test('answers only when it has ended', async () => {
    const running = deferred();
    const { receiver } = setUp({ handler: () => running.promise });
    let answered = false;
    const answering = receiver.receive(await delivery(body)).then((answer) => {
      answered = true;
      return answer;
    });
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(answered).toBe(false);
    running.reject(new Error('no'));
    expect((await answering).status).toBe(500);
  });
});

describe('the middleware form', () => {
  const receive = async (route: Route, parts: Parameters<typeof setUp>[0] = {}) => {
    const all = setUp({ handler: undefined, ...parts });
    const answers = [];
    for (let i = 0; i < 2; i++) answers.push(await all.receiver.receive(await delivery(body), route));
    return { ...all, answers };
  };

  test.each([200, 201, 204, 299])('a route that answers %i has handled the event', async (status) => {
    const { answers, store } = await receive(() => status);
    expect(answers).toEqual([
      { status, headers: {}, body: null },
      { status: 200, headers: { 'content-type': 'application/json' }, body: '{"code":"repeat"}' },
    ]);
    expect(store.calls).toEqual(['claim one', 'done']);
  });

  test.each([100, 199, 300, 302, 400, 404, 409, 500, 503, 0, Number.NaN])(
    'a route that answers %p has not, and its answer goes out',
    async (status) => {
      const { answers, store, outcomes } = await receive(async () => status);
      expect(answers).toEqual([
        { status, headers: {}, body: null },
        { status, headers: {}, body: null },
      ]);
      expect(store.calls).toEqual(['claim one', 'release', 'claim one', 'release']);
      expect(outcomes[0]).toMatchObject({ code: 'handler_failed', reason: 'route_answered' });
    },
  );

  test.each([
    [
      'throws',
      () => {
        throw new Error('no');
      },
      500,
    ],
    ['rejects', () => Promise.reject(undefined), 500],
    ['destroys its response', () => Promise.reject(new FactuareaWebhookError('route_closed', 'gone')), 500],
    ['gives up for good', () => Promise.reject(new PermanentFailure('never')), 422],
  ])('a route that %s frees the event', async (_name, route, status) => {
    const { answers, store } = await receive(route);
    expect(answers.map((answer) => [answer.status, answer.body === null])).toEqual([
      [status, false],
      [status, false],
    ]);
    expect(store.calls).toEqual(['claim one', 'release', 'claim one', 'release']);
  });

  test('the claim is settled before the answer goes out', async () => {
    const marked = deferred();
    const store = watchedStore((claim) => ({ done: () => marked.promise.then(claim.done) }));
    const { receiver } = setUp({ handler: undefined, store });
    let answered = false;
    const answering = receiver
      .receive(await delivery(body), () => 204)
      .then((answer) => {
        answered = true;
        return answer;
      });
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect([answered, store.calls]).toEqual([false, ['claim one', 'done']]);
    marked.resolve();
    expect(await answering).toEqual({ status: 204, headers: {}, body: null });
  });

  test('a route that destroys its response frees the event, and the log says so', async () => {
    const { outcomes } = await receive(() => Promise.reject(new FactuareaWebhookError('route_closed', 'gone')));
    expect(outcomes[0]).toMatchObject({
      code: 'handler_failed',
      reason: 'route_closed',
      message: expect.stringContaining('destroyed its response'),
    });
  });

  test('a route goes before a handler', async () => {
    const { receiver, events } = setUp();
    expect(await receiver.receive(await delivery(body), () => 204)).toMatchObject({ status: 204, body: null });
    expect(events).toEqual([]);
  });

  test.each(['GET', 'POST'])('what never is an event never reaches the route (%s)', async (method) => {
    const { receiver } = setUp({ handler: undefined });
    let calls = 0;
    const route = (): number => ++calls;
    await receiver.receive(await delivery(body, { method, secret: OLDER_SECRET }), route);
    await receiver.receive(await delivery('{"id":"ping","type":"webhook.ping"}', { method }), route);
    expect(calls).toBe(0);
  });

  test('the context is the handler’s', async () => {
    let seen: unknown;
    const { receiver } = setUp({ handler: undefined, secret: { account: SECRET } });
    await receiver.receive(await delivery(body), (event, context) => {
      seen = [event === context.event, context.delivery.endpoint, context.fence];
      return 200;
    });
    expect(seen).toEqual([true, 'account', 1]);
  });
});

describe('what the app’s own code throws changes no answer', () => {
  const errors: ReceiverOptions[] = [
    { onOutcome: hostile },
    { onOutcome: () => Promise.reject(new Error('hook')) },
    { onOutcome: () => thenable(hostile) },
    { logger: { info: hostile, warn: hostile, error: hostile } },
  ];

  test.each(errors)('%o', async (options) => {
    let calls = 0;
    const { receiver } = setUp({
      ...options,
      handler: () => {
        if (++calls === 1) throw new Error('no');
      },
    });
    const statuses = [];
    for (const incoming of [request(), await delivery(body), await delivery(body), await delivery(body)]) {
      statuses.push((await receiver.receive(incoming)).status);
    }
    expect(statuses).toEqual([401, 500, 200, 200]);
    // Jest fails a test that leaves a rejection unhandled.
    await new Promise((resolve) => setTimeout(resolve, 10));
  });

  test('a clock that throws, and one that is none, let nobody in', async () => {
    for (const nowSeconds of [hostile, () => Number.NaN, () => undefined as unknown as number, () => NOW * 1000]) {
      const { receiver, store, events } = setUp({ nowSeconds });
      expect([401, 500]).toContain((await receiver.receive(await delivery(body))).status);
      expect([...store.calls, ...events]).toEqual([]);
    }
  });

  test('a header lookup that throws is answered 500', async () => {
    const { receiver, outcomes } = setUp();
    const answer = await receiver.receive({ ...(await delivery(body)), header: hostile });
    expect([answer.status, codeOf(answer)]).toEqual([500, 'internal_error']);
    expect(outcomes).toHaveLength(1);
  });
});

test('`onOutcome` is told once per request, of every kind', async () => {
  const { receiver, outcomes } = setUp({ secret: { company: SECRET } });
  const requests = [
    await delivery(body),
    await delivery(body),
    await delivery('{}'),
    request(),
    request({ method: 'GET' }),
    await delivery(bodyOf('two'), { secret: OLDER_SECRET }),
  ];
  for (const incoming of requests) await receiver.receive(incoming);
  expect(outcomes.map(({ code, eventId, eventType, endpoint }) => [code, eventId, eventType, endpoint])).toEqual([
    ['handled', 'one', 'invoice.sent', 'company'],
    ['repeat', 'one', 'invoice.sent', 'company'],
    ['invalid_event', undefined, undefined, 'company'],
    ['invalid_signature', undefined, undefined, undefined],
    ['method_not_allowed', undefined, undefined, undefined],
    ['invalid_signature', undefined, undefined, undefined],
  ]);
  for (const { durationMs } of outcomes) expect(durationMs).toBeGreaterThanOrEqual(0);
});
