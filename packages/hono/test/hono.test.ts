import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Context, memoryStore, type ReceiverOptions, signDelivery } from '@factuarea-webhook/core';
import { type FactuareaVariables, factuareaWebhook } from '@factuarea-webhook/hono';
import { serve } from '@hono/node-server';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Hono, type Context as HonoContext, type MiddlewareHandler } from 'hono';

const secret = 'whsec_7Qm2Zr9tLk4XvB1nAe6H';
const quiet = { info() {}, warn() {}, error() {} };
const servers: Server[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

/** Serves an app on a real socket and gives its address. */
async function listen(app: { fetch: Hono['fetch'] }): Promise<string> {
  const server = await new Promise<Server>((resolve) => {
    const made = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(made as Server));
  });
  servers.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

let ids = 0;

async function post(url: string, body: string | Uint8Array = event(), init: RequestInit = {}): Promise<Answered> {
  const response = await fetch(url, {
    method: 'POST',
    ...init,
    headers: { 'factuarea-signature': await signDelivery({ body, secret }), ...init.headers },
    body: body as string,
  });
  const text = await response.text();
  return { status: response.status, text, headers: response.headers };
}

interface Answered {
  status: number;
  text: string;
  headers: Headers;
}

function event(more: object = {}): string {
  return JSON.stringify({ id: `evt_hono_${++ids}`, type: 'invoice.paid', data: {}, ...more });
}

function recording(more: ReceiverOptions = {}): { handled: string[]; options: ReceiverOptions } {
  const handled: string[] = [];
  return { handled, options: { secret, logger: quiet, handler: (one) => handled.push(one.id), ...more } };
}

/** Another middleware, which reads the body first. */
function reads(read: (c: HonoContext) => unknown): MiddlewareHandler {
  return async (c, next) => {
    await read(c);
    await next();
  };
}

describe('a body that an earlier middleware has read', () => {
  const spaced = () =>
    `{ "id": "evt_hono_${++ids}",  "type":"invoice.paid","data":{"total":1.0,"note":"caf\\u00e9 \\/"}}\n`;

  test.each<[string, (c: HonoContext) => unknown]>([
    ['nothing', () => {}],
    ['c.req.json()', (c) => c.req.json()],
    ['c.req.text()', (c) => c.req.text()],
    ['c.req.arrayBuffer()', (c) => c.req.arrayBuffer()],
    ['c.req.blob()', (c) => c.req.blob()],
  ])('%s leaves the exact bytes', async (_name, read) => {
    const { handled, options } = recording();
    const app = new Hono();
    app.use(reads(read));
    app.post('/hook', factuareaWebhook(options));
    expect((await post(`${await listen(app)}/hook`, spaced())).status).toBe(200);
    expect(handled).toHaveLength(1);
  });

  test.each([
    ['a byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(event())]), 'handled'],
    ['broken UTF-8', Buffer.concat([Buffer.from(event().slice(0, -1)), Buffer.from([0x20, 0xe9])]), 'invalid_event'],
    ['a character cut short', Buffer.concat([Buffer.from(event()), Buffer.from([0xf0, 0x9f, 0x98])]), 'invalid_event'],
  ])('text() that has lost %s is answered 500, and bytes are taken as they are', async (_name, body, code) => {
    const { options } = recording();
    const answers = [];
    for (const kind of ['text', 'arrayBuffer', 'blob'] as const) {
      const app = new Hono();
      app.use(reads((c) => c.req[kind]()));
      app.post('/hook', factuareaWebhook(options));
      answers.push(JSON.parse((await post(`${await listen(app)}/hook`, body)).text).code);
    }
    expect(answers).toEqual(['body_unavailable', code, code]);
  });

  test('a text without a declared length cannot be judged', async () => {
    const { options } = recording();
    const app = new Hono();
    app.use(reads((c) => c.req.text()));
    app.post('/hook', factuareaWebhook(options));
    const url = `${await listen(app)}/hook`;
    const body = event();
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'factuarea-signature': await signDelivery({ body, secret }) },
      body: new Blob([body]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect([response.status, await response.json()]).toEqual([500, { code: 'body_unavailable' }]);
  });

  test.each<[string, (c: HonoContext) => unknown]>([
    ['past the cache', (c) => c.req.raw.text()],
    ['as a form', (c) => c.req.formData()],
  ])('read %s is answered 500, and the log names it', async (_name, read) => {
    const said: string[] = [];
    const log = (_fields: object, message: string): void => void said.push(message);
    const { handled, options } = recording({ logger: { ...quiet, error: log } });
    const app = new Hono();
    app.use(reads(read));
    app.post('/hook', factuareaWebhook(options));
    const { status, text } = await post(`${await listen(app)}/hook`, 'a=b', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect([status, JSON.parse(text)]).toEqual([500, { code: 'body_unavailable' }]);
    expect(said.join()).toContain('Mount this before any body parser');
    expect(handled).toEqual([]);
  });

  test('the limit holds for a body that is in the cache', async () => {
    const { options } = recording({ bodyLimit: 64 });
    const app = new Hono();
    app.use(reads((c) => c.req.arrayBuffer()));
    app.post('/hook', factuareaWebhook(options));
    const body = event({ more: 'x'.repeat(100) });
    const response = await fetch(`${await listen(app)}/hook`, {
      method: 'POST',
      headers: { 'factuarea-signature': await signDelivery({ body, secret }) },
      body: new Blob([body]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(response.status).toBe(413);
  });
});

describe('the middleware form', () => {
  test('types reach the route, and the route may read the body again', async () => {
    const app = new Hono();
    const seen: unknown[] = [];
    app.post('/hook', factuareaWebhook({ secret, logger: quiet }), async (c) => {
      const context: Context = c.get('factuarea');
      seen.push(context.event.id, (await c.req.json()).id, await c.req.text());
      return c.body(null, 204);
    });
    const body = event({ id: 'evt_hono_reads_again' });
    expect((await post(`${await listen(app)}/hook`, body)).status).toBe(204);
    expect(seen).toEqual(['evt_hono_reads_again', 'evt_hono_reads_again', body]);
  });

  test('an app with Variables of its own type-checks', async () => {
    const app = new Hono<{ Variables: FactuareaVariables & { user: string } }>();
    app.use('/hook', factuareaWebhook({ secret, logger: quiet }));
    app.post('/hook', (c) => c.text(c.get('factuarea').event.type));
    const answered = await post(`${await listen(app)}/hook`);
    expect([answered.status, answered.text]).toEqual([200, 'invoice.paid']);
  });

  test('an answer that replaces the route’s own carries none of its headers', async () => {
    const store = memoryStore();
    const failing = {
      claim: async (id: string, times: { leaseMs: number; retentionMs: number }) => {
        const claim = await store.claim(id, times);
        if (claim.state !== 'mine') return claim;
        const done = (): Promise<boolean> => Promise.reject(new Error('The connection was lost.'));
        return { ...claim, tx: 'a transaction', done };
      },
    };
    const app = new Hono();
    app.post('/hook', factuareaWebhook({ secret, logger: quiet, store: failing }), (c) => {
      c.header('set-cookie', 'route=1');
      c.header('x-route', '1');
      return c.text('booked', 201);
    });
    const { status, text, headers } = await post(`${await listen(app)}/hook`);
    expect([status, text]).toEqual([503, '{"code":"commit_failed"}']);
    expect([headers.get('set-cookie'), headers.get('x-route')]).toEqual([null, null]);
    expect(headers.get('content-type')).toBe('application/json');
  });
});

describe('where it is mounted', () => {
  test('bare, it answers POST /factuarea/webhook and passes everything else on, bodies untouched', async () => {
    const { handled, options } = recording();
    const app = new Hono();
    app.use(factuareaWebhook(options));
    app.all('*', async (c) => c.text(`app: ${c.req.method} ${c.req.path} ${await c.req.text()}`));
    const url = await listen(app);
    expect((await post(`${url}/factuarea/webhook`)).status).toBe(200);
    expect((await post(`${url}/factuarea/webhook?x=1`)).status).toBe(200);
    expect(handled).toHaveLength(2);
    expect((await post(`${url}/other`, 'hello')).text).toBe('app: POST /other hello');
    expect(await (await fetch(`${url}/factuarea/webhook`)).text()).toBe('app: GET /factuarea/webhook ');
    expect(handled).toHaveLength(2);
  });

  test('bare in the middleware form, the app’s own route runs behind it', async () => {
    const app = new Hono();
    const types: string[] = [];
    app.use(factuareaWebhook({ secret, logger: quiet }));
    app.post('/factuarea/webhook', (c) => {
      types.push((c.get('factuarea' as never) as Context).event.type);
      return c.body(null, 204);
    });
    const url = await listen(app);
    const body = event();
    const statuses = [await post(`${url}/factuarea/webhook`, body), await post(`${url}/factuarea/webhook`, body)];
    expect(statuses.map(({ status }) => status)).toEqual([204, 200]);
    expect(types).toEqual(['invoice.paid']);
    const forged = await fetch(`${url}/factuarea/webhook`, { method: 'POST', body });
    expect(forged.status).toBe(401);
  });

  test('on a path it compares none: routes, prefixes, sub-apps, parameters', async () => {
    const { handled, options } = recording();
    const app = new Hono();
    const sub = new Hono();
    sub.post('/wh', factuareaWebhook(options));
    app.route('/api/v1', sub);
    app.use('/any/*', factuareaWebhook(options));
    app.post('/of/:company', factuareaWebhook(options));
    app.basePath('/base').all('/wh', factuareaWebhook(options));
    const url = await listen(app);
    for (const path of ['/api/v1/wh', '/api/v1/wh?x=1', '/any/where', '/of/acme', '/base/wh']) {
      expect([path, (await post(url + path)).status]).toEqual([path, 200]);
    }
    expect(handled).toHaveLength(5);
  });
});

test('work past the deadline is handed to the platform that would freeze it', async () => {
  let finish = (): void => {};
  const handler = (): Promise<void> => new Promise((resolve) => (finish = resolve));
  const { options } = recording({ handler, timeoutSeconds: 1 });
  const app = new Hono();
  app.post('/hook', factuareaWebhook(options));
  const body = event();
  const signature = await signDelivery({ body, secret });
  const kept: Promise<unknown>[] = [];
  const executionCtx = { waitUntil: (work: Promise<unknown>) => void kept.push(work), passThroughOnException() {} };
  const request = (): RequestInit => ({ method: 'POST', headers: { 'factuarea-signature': signature }, body });
  const late = await app.request('/hook', request(), {}, executionCtx as never);
  expect([late.status, kept.length]).toEqual([503, 1]);
  finish();
  await kept[0];
  expect((await app.request('/hook', request())).status).toBe(200);
});

test('options are checked when the middleware is made', () => {
  expect(() => factuareaWebhook({ bodyLimit: 0 })).toThrow('`bodyLimit`');
});
