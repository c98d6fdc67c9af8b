import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { fetchHandler, type RequestLike, toIncoming, toResponse } from '../src/fetch.ts';
import {
  createReceiver,
  type FactuareaEvent,
  hasCode,
  memoryStore,
  type Outcome,
  type ReceiverOptions,
  signDelivery,
} from '../src/index.ts';
import { type FetchServer, RawClient, serve } from './fetch-server.ts';
import { bodyOf, deferred, NOW, SECRET, thrownBy, type WatchedStore, watchedStore } from './support.ts';

const quiet = { info() {}, warn() {}, error() {} };
const open: FetchServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function start(
  options: ReceiverOptions = {},
  around = (handle: (request: Request) => Promise<Response>) => handle,
) {
  const store: WatchedStore = watchedStore();
  const events: FactuareaEvent[] = [];
  const outcomes: Outcome[] = [];
  const waiting: [string, () => void][] = [];
  const receiver = createReceiver({
    secret: SECRET,
    store,
    logger: quiet,
    nowSeconds: () => NOW,
    onOutcome: (outcome) => {
      outcomes.push(outcome);
      for (const [code, resolve] of waiting) if (code === outcome.code) resolve();
    },
    handler: (event) => events.push(event),
    ...options,
  });
  const handle = fetchHandler(receiver);
  const server = await serve(around((request) => handle(request)));
  open.push(server);
  /** Resolves when a request has come to this. */
  const outcome = (code: string): Promise<void> =>
    new Promise((resolve) => {
      waiting.push([code, resolve]);
      if (outcomes.some((one) => one.code === code)) resolve();
    });
  return { server, store, events, outcomes, outcome };
}

async function signed(
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Record<string, string>> {
  return { 'factuarea-signature': await signDelivery({ body, secret: SECRET, timestamp: NOW }), ...headers };
}

const post = async (
  server: FetchServer,
  body: string | Uint8Array,
  headers?: Record<string, string>,
): Promise<string> => {
  const sent = { method: 'POST', body, headers: headers ?? (await signed(body)) };
  const response = await fetch(server.url, sent);
  return `${response.status} ${await response.text()}`;
};

describe('over real sockets', () => {
  test('a delivery is handled, and its copy is a repeat', async () => {
    const { server, events } = await start();
    expect(await post(server, bodyOf('one'))).toBe('200 {"code":"handled"}');
    expect(await post(server, bodyOf('one'))).toBe('200 {"code":"repeat"}');
    expect(events).toEqual([JSON.parse(bodyOf('one'))]);
  });

  test('the answer says that it is JSON, and other methods what is allowed', async () => {
    const { server } = await start();
    const response = await fetch(server.url);
    expect([response.status, response.headers.get('allow'), response.headers.get('content-type')]).toEqual([
      405,
      'POST',
      'application/json',
    ]);
    expect((await fetch(server.url, { method: 'HEAD' })).status).toBe(405);
  });

  test.each(['declared', 'chunked'])('a character that is cut in two on the wire arrives whole (%s)', async (kind) => {
    const body = Buffer.from('{"id":"one","type":"invoice.paid","data":{"who":"Łukasz 😀"}}');
    const cut = body.indexOf(Buffer.from('😀')) + 2;
    const { server, events } = await start();
    const length: Record<string, string> =
      kind === 'chunked' ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(body.length) };
    const client = new RawClient(server, await signed(body, length));
    const write = (part: Uint8Array): Promise<void> =>
      kind === 'chunked' ? client.writeChunk(part) : client.write(part);
    await write(body.subarray(0, cut));
    await new Promise((resolve) => setTimeout(resolve, 30));
    await write(body.subarray(cut));
    if (kind === 'chunked') await client.write('0\r\n\r\n');
    expect(await client.status()).toBe(200);
    expect(events).toEqual([JSON.parse(body.toString())]);
    client.end();
  });

  test('a large body within the limit is handled', async () => {
    const { server } = await start();
    const body = JSON.stringify({ id: 'one', type: 'a.b', data: { text: 'é'.repeat(150_000) } });
    expect(await post(server, body)).toBe('200 {"code":"handled"}');
  });

  test('a body of exactly the limit is handled, and one byte more is refused', async () => {
    const body = bodyOf('one');
    const { server } = await start({ bodyLimit: body.length });
    expect(await post(server, body)).toBe('200 {"code":"handled"}');
    expect(await post(server, `${body} `)).toBe('413 {"code":"body_too_large"}');
  });

  test('a body that is declared too large is refused before it comes', async () => {
    const { server, store } = await start({ bodyLimit: 100 });
    const client = new RawClient(server, await signed('', { 'content-length': '101' }));
    expect(await client.status()).toBe(413);
    client.end();
    expect(store.calls).toEqual([]);
  });

  test('a body that never ends is refused as soon as it is over the limit', async () => {
    const { server, store } = await start({ bodyLimit: 100_000 });
    const client = new RawClient(server, await signed('', { 'transfer-encoding': 'chunked' }));
    let answered = false;
    const status = client.status().finally(() => {
      answered = true;
    });
    let sent = 0;
    while (!answered && sent < 50_000_000) {
      await client.writeChunk(new Uint8Array(16_384).fill(32));
      sent += 16_384;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await status).toBe(413);
    client.end();
    expect(store.calls).toEqual([]);
  });

  test('200 senders that leave in mid body leave no claim, and the next delivery is handled', async () => {
    const { server, store, events, outcomes } = await start();
    const headers = await signed(bodyOf('one'), { 'content-length': '200' });
    await Promise.all(
      Array.from({ length: 200 }, async () => {
        const client = new RawClient(server, headers);
        await client.write(bodyOf('one').slice(0, 40));
        client.end();
      }),
    );
    expect(await post(server, bodyOf('good'))).toBe('200 {"code":"handled"}');
    expect(store.calls).toEqual(['claim good', 'done']);
    expect(events).toHaveLength(1);
    for (const { code } of outcomes) expect(['body_incomplete', 'handled']).toContain(code);
  });

  test('a sender that leaves in mid body has sent an incomplete one', async () => {
    const { server, store, outcome } = await start();
    const client = new RawClient(server, await signed(bodyOf('one'), { 'content-length': '200' }));
    await client.write(bodyOf('one').slice(0, 40));
    client.end();
    await outcome('body_incomplete');
    expect(store.calls).toEqual([]);
  });

  test('a compressed body is refused, whichever bytes were signed', async () => {
    const { server, store } = await start();
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20));
    for (const [body, over] of [
      [gzipSync(bodyOf('one')), bodyOf('one')],
      [gzipSync(bodyOf('one')), gzipSync(bodyOf('one'))],
      [bomb, bomb],
    ] as const) {
      expect(await post(server, body, await signed(over, { 'content-encoding': 'gzip' }))).toBe(
        '415 {"code":"unsupported_encoding"}',
      );
    }
    expect(store.calls).toEqual([]);
    const identity = await signed(bodyOf('one'), { 'content-encoding': 'identity' });
    expect(await post(server, bodyOf('one'), identity)).toBe('200 {"code":"handled"}');
  });

  test('an empty body: 401 unsigned, 400 signed', async () => {
    const { server, store } = await start();
    expect(await post(server, '', {})).toBe('401 {"code":"invalid_signature"}');
    expect(await post(server, '')).toBe('400 {"code":"invalid_event"}');
    expect(store.calls).toEqual([]);
  });

  test('a signature header that comes twice is refused', async () => {
    const { server } = await start();
    const { 'factuarea-signature': signature = '' } = await signed(bodyOf('one'));
    const client = new RawClient(server, {
      'Factuarea-Signature': signature,
      'factuarea-signature': signature,
      'content-length': String(bodyOf('one').length),
    });
    await client.write(bodyOf('one'));
    expect(await client.status()).toBe(401);
    client.end();
  });

  test.each<[string, (request: Request) => unknown]>([
    ['read', (request) => request.text()],
    ['being read', (request) => request.body?.getReader()],
    ['being read, after a first piece', (request) => request.body?.getReader().read()],
  ])('a body that has been %s by somebody else: 500 at once', async (_name, first) => {
    const { server, store, outcomes } = await start({}, (handle) => async (request) => {
      await first(request);
      return handle(request);
    });
    const startedAt = performance.now();
    expect(await post(server, bodyOf('one'))).toBe('500 {"code":"body_unavailable"}');
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect(store.calls).toEqual([]);
    expect(outcomes[0]?.error).toMatchObject({
      message: expect.stringContaining('before anything that reads the body'),
    });
  });

  test('a clone that was read does no harm', async () => {
    const { server } = await start({}, (handle) => async (request) => {
      await request.clone().text();
      return handle(request);
    });
    expect(await post(server, bodyOf('one'))).toBe('200 {"code":"handled"}');
  });
});

describe('without a socket', () => {
  const make = async (
    body: string | ReadableStream | null,
    more: RequestInit & { duplex?: 'half' } = {},
  ): Promise<Request> =>
    new Request('https://app.example/webhook', { method: 'POST', body, headers: await signed(''), ...more });

  test('no body is an empty one', async () => {
    expect(await toIncoming(await make(null)).body(10)).toEqual(new Uint8Array());
  });

  test('a stream that fails is an incomplete body', async () => {
    const cause = new Error('reset');
    const body = new ReadableStream({
      pull(controller) {
        controller.error(cause);
      },
    });
    const error = await thrownBy(async () => toIncoming(await make(body, { duplex: 'half' })).body(10));
    expect(error).toMatchObject({ code: 'body_incomplete', cause });
  });

  test('a stream over the limit is cancelled, and not waited for', async () => {
    let cancelled = false;
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(6)),
      cancel() {
        cancelled = true;
        return new Promise<void>(() => {});
      },
    });
    const error = await thrownBy(async () => toIncoming(await make(body, { duplex: 'half' })).body(10));
    expect(hasCode(error, 'body_too_large')).toBe(true);
    expect(cancelled).toBe(true);
  });

  test('the pieces come together in their order', async () => {
    const pieces = [[1], [], [2, 3], [4]].map((piece) => Uint8Array.from(piece));
    const body = new ReadableStream({
      pull(controller) {
        const piece = pieces.shift();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
    expect([...(await toIncoming(await make(body, { duplex: 'half' })).body(10))]).toEqual([1, 2, 3, 4]);
  });

  test('a Request of any make will do', async () => {
    const body = bodyOf('one');
    const headers = new Map(Object.entries(await signed(body)));
    const request: RequestLike = {
      method: 'POST',
      headers: { get: (name) => headers.get(name) ?? null },
      body: new Blob([body]).stream(),
      bodyUsed: false,
    };
    const receiver = createReceiver({ secret: SECRET, nowSeconds: () => NOW, handler() {} });
    expect((await receiver.receive(toIncoming(request))).status).toBe(200);
  });

  test('an answer becomes a Response', async () => {
    const response = toResponse({ status: 503, headers: { 'retry-after': '7' }, body: '{}' }) as Response;
    expect([response.status, response.headers.get('retry-after'), await response.text()]).toEqual([503, '7', '{}']);
  });

  test('late work is handed to the platform', async () => {
    const running = deferred();
    const kept: Promise<unknown>[] = [];
    const receiver = createReceiver({
      secret: SECRET,
      nowSeconds: () => NOW,
      timeoutSeconds: 1,
      logger: quiet,
      handler: () => running.promise,
    });
    const body = bodyOf('one');
    const request = await make(body, { headers: await signed(body) });
    const response = await fetchHandler(receiver)(request, { waitUntil: (work) => kept.push(work) });
    expect((response as Response).status).toBe(503);
    expect(kept).toHaveLength(1);
    running.resolve();
    await kept[0];
  });

  test('a handler is needed, or a route, and not both', async () => {
    const options = { secret: SECRET };
    const route = (): Response => new Response();
    expect(await thrownBy(() => fetchHandler(createReceiver(options)))).toMatchObject({ code: 'config_error' });
    expect(await thrownBy(() => fetchHandler(createReceiver({ ...options, handler() {} }), route))).toMatchObject({
      code: 'config_error',
    });
  });
});

describe('the middleware form', () => {
  async function startRoute(route: (request: Request) => Response | Promise<Response>, store = memoryStore()) {
    const codes: string[] = [];
    const settled: Record<string, () => void> = {};
    const receiver = createReceiver({
      secret: SECRET,
      store,
      logger: quiet,
      nowSeconds: () => NOW,
      onOutcome: ({ code }) => {
        codes.push(code);
        settled[code]?.();
      },
    });
    const handle = fetchHandler(receiver, (request: Request) => route(request));
    const server = await serve((request) => handle(request) as Promise<Response>);
    open.push(server);
    const outcome = (code: string): Promise<void> =>
      new Promise((resolve) => {
        settled[code] = resolve;
        if (codes.includes(code)) resolve();
      });
    return { server, codes, outcome };
  }

  test('the route’s own answer goes out, and repeats never reach it', async () => {
    let calls = 0;
    const { server } = await startRoute(() => new Response(`number ${++calls}`, { status: 201 }));
    expect(await post(server, bodyOf('one'))).toBe('201 number 1');
    expect(await post(server, bodyOf('one'))).toBe('200 {"code":"repeat"}');
  });

  test('no 2xx frees the event, and goes out too', async () => {
    let calls = 0;
    const { server } = await startRoute(() => new Response('later', { status: ++calls === 1 ? 503 : 200 }));
    expect(await post(server, bodyOf('one'))).toBe('503 later');
    expect(await post(server, bodyOf('one'))).toBe('200 later');
  });

  test('a streamed answer leaves after the event is marked', async () => {
    const store = memoryStore();
    const first = deferred();
    const { server } = await startRoute(
      () =>
        new Response(
          new ReadableStream({
            async start(controller) {
              controller.enqueue(new TextEncoder().encode('begun '));
              await first.promise;
              controller.enqueue(new TextEncoder().encode('done'));
              controller.close();
            },
          }),
        ),
      store,
    );
    const headers = await signed(bodyOf('one'));
    const response = await fetch(server.url, { method: 'POST', body: bodyOf('one'), headers });
    expect(await store.claim('one', { leaseMs: 1, retentionMs: 1 })).toEqual({ state: 'done' });
    first.resolve();
    expect(await response.text()).toBe('begun done');
  });

  test('a route that throws is answered 500 and frees the event', async () => {
    let calls = 0;
    const { server } = await startRoute(() => {
      if (++calls === 1) throw new Error('no');
      return new Response();
    });
    expect(await post(server, bodyOf('one'))).toBe('500 {"code":"handler_failed"}');
    expect(await post(server, bodyOf('one'))).toBe('200 ');
  });

  test('an answer that may not go out is closed at its source', async () => {
    const store = watchedStore(() => ({ tx: {} as never, done: () => Promise.reject(new Error('reset')) }));
    const receiver = createReceiver({ secret: SECRET, store, logger: quiet, nowSeconds: () => NOW });
    let cancelled = 0;
    const route = (): Response => new Response(new ReadableStream({ cancel: () => void cancelled++ }));
    const request: RequestLike = {
      method: 'POST',
      headers: new Headers(await signed(bodyOf('one'))),
      body: new Blob([bodyOf('one')]).stream(),
      bodyUsed: false,
    };
    const response = (await fetchHandler(receiver, route as (request: RequestLike) => Response)(request)) as Response;
    expect([response.status, await response.text(), cancelled]).toEqual([503, '{"code":"commit_failed"}', 1]);
  });

  test('an answer that comes after the limit is closed at its source', async () => {
    const receiver = createReceiver({ secret: SECRET, logger: quiet, nowSeconds: () => NOW, handlerLimitSeconds: 1 });
    const answering = deferred<Response>();
    const cancelled = deferred();
    const headers = await signed(bodyOf('one'));
    const request = new Request('http://127.0.0.1/', { method: 'POST', headers, body: bodyOf('one') });
    const response = (await fetchHandler(receiver, () => answering.promise)(request)) as Response;
    expect([response.status, await response.text()]).toEqual([503, '{"code":"deadline_exceeded"}']);
    answering.resolve(new Response(new ReadableStream({ cancel: () => cancelled.resolve() })));
    await cancelled.promise;
  });

  test.each([
    [200, '200 {"code":"repeat"}', 1],
    [500, '200 run 2', 2],
  ])('a sender that leaves changes nothing: the route’s %i settles the event', async (status, next, runs) => {
    let calls = 0;
    let signal: AbortSignal | undefined;
    const reached = deferred();
    const left = deferred();
    const answering = deferred();
    const { server, outcome } = await startRoute(async (request) => {
      if (++calls > 1) return new Response(`run ${calls}`);
      signal = request.signal;
      signal.addEventListener('abort', () => left.resolve());
      reached.resolve();
      await answering.promise;
      return new Response('too late', { status });
    });
    const body = bodyOf('one');
    const client = new RawClient(server, await signed(body, { 'content-length': String(body.length) }));
    await client.write(body);
    await reached.promise;
    client.end();
    await left.promise;
    expect(await post(server, body)).toBe('503 {"code":"in_progress"}');
    answering.resolve();
    await outcome(status === 200 ? 'handled' : 'handler_failed');
    expect(await post(server, body)).toBe(next);
    expect(calls).toBe(runs);
  });
});
