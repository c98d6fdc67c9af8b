import { PassThrough } from 'node:stream';
import {
  type Claim,
  type ClaimOptions,
  memoryStore,
  type ReceiverOptions,
  type Store,
  signDelivery,
} from '@factuarea-webhook/core';
import { type FactuareaWebhookOptions, factuareaWebhook } from '@factuarea-webhook/fastify';
import { afterEach, describe, expect, test } from '@jest/globals';
import Fastify, { type FastifyInstance, type FastifyServerOptions, type RouteHandlerMethod } from 'fastify';
import rawBody from 'fastify-raw-body';

const secret = 'whsec_7Qm2Zr9tLk4XvB1nAe6H';
const quiet = { info() {}, warn() {}, error() {} };
const apps: FastifyInstance[] = [];

afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

function make(options: FastifyServerOptions = {}): FastifyInstance {
  const app = Fastify({ forceCloseConnections: true, ...options }) as FastifyInstance;
  apps.push(app);
  return app;
}

const listen = (app: FastifyInstance): Promise<string> => app.listen({ port: 0, host: '127.0.0.1' });

let ids = 0;

function event(more: object = {}): string {
  return JSON.stringify({ id: `evt_fastify_${++ids}`, type: 'invoice.paid', data: {}, ...more });
}

async function post(url: string, body: string = event(), headers: Record<string, string> = {}): Promise<Answered> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'factuarea-signature': await signDelivery({ body, secret }), ...headers },
    body: new TextEncoder().encode(body),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

interface Answered {
  status: number;
  text: string;
  headers: Headers;
}

function recording(more: ReceiverOptions = {}): { handled: string[]; options: ReceiverOptions } {
  const handled: string[] = [];
  return { handled, options: { secret, logger: quiet, handler: (one) => handled.push(one.id), ...more } };
}

const marked = { config: { factuareaWebhook: true } };

describe('content types', () => {
  const types = [
    undefined,
    '',
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; utf-8',
    'application/json; charset=iso-8859-1',
    'application/vnd.factuarea.v1+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'text/plain',
    'no type at all',
  ];

  test.each(types)('%p is accepted in both forms', async (type) => {
    const { handled, options } = recording();
    const app = make();
    app.register(factuareaWebhook, options);
    app.register(async (scope) => {
      await scope.register(factuareaWebhook, { secret, logger: quiet });
      scope.post('/own', marked, async ({ factuarea }) => factuarea.event.type);
    });
    const url = await listen(app);
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    expect((await post(`${url}/factuarea/webhook`, event(), headers)).status).toBe(200);
    expect(handled).toHaveLength(1);
    const own = await post(`${url}/own`, event(), headers);
    expect([own.status, own.text]).toEqual([200, 'invoice.paid']);
  });
});

describe('the rest of the app', () => {
  const body = '{"a": 1}';
  const echo = async (request: { body: unknown }): Promise<unknown> => ({ got: request.body ?? null });
  const setups: [string, (app: FastifyInstance) => unknown, string][] = [
    ['Fastify’s own JSON parser', () => {}, '{"got":{"a":1}}'],
    [
      'a JSON parser of the app',
      (app) =>
        app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) =>
          done(null, [text]),
        ),
      '{"got":["{\\"a\\": 1}"]}',
    ],
    [
      'a parser for every type',
      (app) => {
        app.removeAllContentTypeParsers();
        app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) =>
          done(null, { size: bytes.length }),
        );
      },
      '{"got":{"size":8}}',
    ],
    [
      'no parser at all',
      (app) => app.removeAllContentTypeParsers(),
      '{"statusCode":415,"code":"FST_ERR_CTP_INVALID_MEDIA_TYPE","error":"Unsupported Media Type","message":"Unsupported Media Type"}',
    ],
    ['fastify-raw-body', (app) => app.register(rawBody, { global: true, encoding: false }), '{"got":{"a":1}}'],
    ['fastify-raw-body first', (app) => app.register(rawBody, { global: true, runFirst: true }), '{"got":{"a":1}}'],
    [
      'a small body limit',
      (app) => app.addHook('onRoute', (route) => void Object.assign(route, { bodyLimit: 8 })),
      '{"got":{"a":1}}',
    ],
  ];

  for (const [name, setUp, answer] of setups) {
    for (const order of ['before', 'after']) {
      test(`${name}, set up ${order} the webhook: neither changes the other`, async () => {
        const { handled, options } = recording();
        const app = make();
        if (order === 'before') await setUp(app);
        app.register(factuareaWebhook, options);
        app.register(factuareaWebhook, { secret, logger: quiet });
        if (order === 'after') await setUp(app);
        app.post('/sibling', echo);
        app.post('/own', marked, async ({ factuarea }) => factuarea.event.type);
        app.register(async (scope) => scope.post('/child', echo));
        const url = await listen(app);
        for (const path of ['/sibling', '/child']) {
          const { text } = await post(url + path, body, { 'content-type': 'application/json' });
          expect([path, text]).toEqual([path, answer]);
        }
        const json = { 'content-type': 'application/json' };
        expect((await post(`${url}/factuarea/webhook`, event(), json)).status).toBe(200);
        expect(handled).toHaveLength(1);
        expect((await post(`${url}/own`, event(), json)).text).toBe('invoice.paid');
      });
    }
  }

  test('the limit is the option’s, whatever the app’s is', async () => {
    const { handled, options } = recording({ bodyLimit: 400 });
    const app = make({ bodyLimit: 50 });
    app.register(factuareaWebhook, options);
    const url = `${await listen(app)}/factuarea/webhook`;
    expect((await post(url, event({ more: 'x'.repeat(200) }))).status).toBe(200);
    expect((await post(url, event({ more: 'x'.repeat(400) }))).status).toBe(413);
    expect(handled).toHaveLength(1);
  });

  test('prefixes hold, and queries change nothing', async () => {
    const { handled, options } = recording();
    const app = make({ routerOptions: { ignoreTrailingSlash: true } });
    app.register(factuareaWebhook, { ...options, prefix: '/one', logLevel: 'warn', path: '/hook' });
    app.register(async (scope) => void scope.register(factuareaWebhook, { ...options, prefix: '/b' }), {
      prefix: '/a',
    });
    const url = await listen(app);
    for (const path of ['/one/hook', '/one/hook/', '/one/hook?x=1', '/a/b/factuarea/webhook']) {
      expect([path, (await post(url + path)).status]).toEqual([path, 200]);
    }
    expect((await post(`${url}/hook`)).status).toBe(404);
    expect(handled).toHaveLength(4);
  });

  test('the app’s own hooks still see the request and its end', async () => {
    const { options } = recording();
    const app = make();
    const seen: unknown[] = [];
    const ended = new Promise<void>((resolve) => {
      app.addHook('onRequest', async (request) => void seen.push(request.method));
      app.addHook('onResponse', async (_request, reply) => {
        seen.push(reply.statusCode);
        resolve();
      });
    });
    app.register(factuareaWebhook, options);
    await post(`${await listen(app)}/factuarea/webhook`);
    await ended;
    expect(seen).toEqual(['POST', 200]);
  });
});

describe('the middleware form', () => {
  /** Tells what became of each claim, by wrapping a real store. */
  function watched(done?: () => Promise<boolean>): { store: Store<unknown>; ends: string[] } {
    const memory = memoryStore();
    const ends: string[] = [];
    return {
      ends,
      store: {
        async claim(id: string, times: ClaimOptions): Promise<Claim<unknown>> {
          const claim = await memory.claim(id, times);
          if (claim.state !== 'mine') return claim;
          return {
            ...claim,
            tx: done && { open: true },
            done: () => {
              ends.push('done');
              return done ? done() : claim.done();
            },
            release: () => {
              ends.push('release');
              return claim.release();
            },
          };
        },
      },
    };
  }

  async function own(
    route: RouteHandlerMethod,
    store: Store<unknown>,
    setUp: (app: FastifyInstance) => unknown = () => {},
  ): Promise<string> {
    const app = make();
    await setUp(app);
    app.register(factuareaWebhook, { secret, logger: quiet, store });
    app.post('/own', marked, route);
    return `${await listen(app)}/own`;
  }

  test('routes without the mark are left alone', async () => {
    const app = make();
    app.register(factuareaWebhook, { secret, logger: quiet });
    app.post('/plain', async (request) => ({ body: request.body }));
    const response = await fetch(`${await listen(app)}/plain`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a":1}',
    });
    expect(await response.json()).toEqual({ body: { a: 1 } });
  });

  test('the route finds the event as its body too, past a schema', async () => {
    const app = make();
    app.register(factuareaWebhook, { secret, logger: quiet });
    const schema = { body: { type: 'object', required: ['id', 'type'] } };
    app.post('/own', { ...marked, schema }, async ({ body }) => body);
    const sent = event();
    expect((await post(`${await listen(app)}/own`, sent, { 'content-type': 'text/plain' })).text).toBe(sent);
  });

  test.each<[string, RouteHandlerMethod, number, string]>([
    ['a value', async () => ({ ok: true }), 200, 'done'],
    ['reply.send', (_request, reply) => void reply.code(201).send('made'), 201, 'done'],
    ['a Response', async () => new Response('made', { status: 202 }), 202, 'done'],
    ['a Response that is no 2xx', async () => new Response('later', { status: 503 }), 503, 'release'],
    ['an error', async () => Promise.reject(new Error('no')), 500, 'release'],
    [
      'an error with a status',
      async () => Promise.reject(Object.assign(new Error('no'), { statusCode: 409 })),
      409,
      'release',
    ],
    ['an unserialisable value', async () => ({ value: 1n }), 500, 'release'],
    [
      'a stream that breaks before its first byte',
      async (_request, reply) => {
        const stream = new PassThrough();
        setImmediate(() => stream.destroy(new Error('broken')));
        return reply.send(stream);
      },
      500,
      'release',
    ],
    [
      'a hijacked reply',
      (_request, reply) => {
        reply.hijack().raw.writeHead(202, { 'content-type': 'text/plain' }).end('by hand');
      },
      202,
      'done',
    ],
    [
      'a hijacked reply that is no 2xx',
      (_request, reply) => {
        reply.hijack().raw.writeHead(500).end();
      },
      500,
      'release',
    ],
  ])('the route answers with %s', async (_name, route, status, end) => {
    const { store, ends } = watched();
    expect((await post(await own(route, store))).status).toBe(status);
    expect(ends).toEqual([end]);
  });

  test('an onSend hook that fails after the route succeeded frees the event', async () => {
    const { store, ends } = watched();
    let fails = 1;
    const url = await own(
      async () => ({ ok: true }),
      store,
      (app) =>
        app.addHook('onSend', async (_request, _reply, payload) => {
          if (fails-- > 0) throw new Error('no');
          return payload;
        }),
    );
    expect((await post(url)).status).toBe(500);
    expect(ends).toEqual(['release']);
  });

  test('a preHandler that refuses frees the event', async () => {
    const { store, ends } = watched();
    const refuse = (app: FastifyInstance): unknown =>
      app.addHook('preHandler', async (_request, reply) => reply.code(403).send('no'));
    expect((await post(await own(async () => 'never', store, refuse))).status).toBe(403);
    expect(ends).toEqual(['release']);
  });

  test('a hijacked reply that is destroyed frees the event, and the process lives', async () => {
    const { store, ends } = watched();
    const url = await own((_request, reply) => void reply.hijack().raw.destroy(), store);
    await expect(post(url)).rejects.toThrow();
    expect(ends).toEqual(['release']);
    await expect(post(url)).rejects.toThrow();
    expect(ends).toEqual(['release', 'release']);
  });

  test('a failed commit replaces the route’s answer, streams and headers included', async () => {
    const { store, ends } = watched(() => Promise.reject(new Error('The connection was lost.')));
    for (const payload of [() => 'booked', () => PassThrough.from(['book', 'ed'])]) {
      const url = await own((_request, reply) => reply.header('x-route', '1').send(payload()), store);
      const { status, text, headers } = await post(url);
      expect([status, text, headers.get('x-route')]).toEqual([503, '{"code":"commit_failed"}', null]);
      expect(headers.get('content-type')).toBe('application/json');
    }
    expect(ends).toEqual(['done', 'done']);
  });
});

describe('options', () => {
  test.each<[string, object, string]>([
    ['a wrong one', { bodyLimit: 0 }, '`bodyLimit`'],
    ['an unknown one', { hander: () => {} }, '`hander`'],
    ['a path without a handler', { path: '/hook' }, '`path` is for'],
  ])('%s stops the app from starting', async (_name, options, message) => {
    const app = make();
    app.register(factuareaWebhook, { secret, ...options });
    await expect(app.ready()).rejects.toThrow(message);
  });

  test('the middleware form twice in one scope stops the app from starting', async () => {
    const app = make();
    app.register(factuareaWebhook, { secret });
    app.register(factuareaWebhook, { secret });
    await expect(app.ready()).rejects.toThrow('registered twice');
  });

  test('handlers are typed, and so is the transaction of annotated options', async () => {
    const store = memoryStore() as Store<unknown> as Store<{ query(sql: string): void }>;
    const options: FactuareaWebhookOptions<{ query(sql: string): void }> = {
      secret,
      store,
      handler: (_event, { tx }) => tx.query('SELECT 1'),
    };
    const app = make({ logger: false });
    app.register(factuareaWebhook, options);
    app.register(factuareaWebhook, { secret, path: '/inline', handler: (one) => one.type.toUpperCase() });
    await app.ready();
    expect(app.hasRoute({ method: 'POST', url: '/factuarea/webhook' })).toBe(true);
  });
});
