import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { createReceiver, type FactuareaEvent } from '@factuarea-webhook/core';
import { factuareaWebhook } from '@factuarea-webhook/express';
import { nodeMiddleware } from '@factuarea-webhook/node';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import compression from 'compression';
import connect from 'connect';
import express5 from 'express';
import express4 from 'express4';
import { type Recorder, type Running, recorder, SECRET, send, signed, start, until } from '../../node/test/support.ts';

let running: Running;
let record: Recorder;
let handled: string[];

const handler = (event: FactuareaEvent): void => {
  handled.push(event.id);
};

async function listen(app: unknown): Promise<number> {
  running = await start(app as RequestListener);
  return running.port;
}

beforeEach(() => {
  record = recorder();
  handled = [];
});

afterEach(() => running?.close());

// Both have the same methods as far as they are used here.
const versions: [string, typeof express5][] = [
  ['Express 4', express4 as unknown as typeof express5],
  ['Express 5', express5],
];

describe.each(versions)('%s', (version, express) => {
  const webhook = (): ReturnType<typeof factuareaWebhook> => factuareaWebhook({ ...record.options, handler });
  const held = (): ReturnType<typeof factuareaWebhook> => factuareaWebhook(record.options);

  describe('a bare app.use() at the root', () => {
    test.each(['/factuarea/webhook', '/factuarea/webhook/', '/Factuarea/WebHook', '/factuarea/webhook?x=1'])(
      'answers POST %s',
      async (path) => {
        const port = await listen(express().use(webhook()));
        expect(await send(port, { path, ...(await signed()) })).toMatchObject({ status: 200 });
        expect(handled).toHaveLength(1);
      },
    );

    test('passes everything else on, its body unread', async () => {
      const app = express();
      app.use(webhook());
      app.use(express.json());
      app.all(['/orders', '/factuarea/webhook', '/factuarea/webhooks', '/x/factuarea/webhook'], (req, res) => {
        res.json({ method: req.method, body: req.body ?? null });
      });
      const port = await listen(app);
      const body = '{"a":1}';
      const others = [
        { path: '/orders' },
        { path: '/factuarea/webhooks' },
        { path: '/x/factuarea/webhook' },
        { path: '/factuarea/webhook', method: 'PUT' },
      ];
      for (const other of others) {
        const { status, text } = await send(port, { body, ...other });
        expect([status, JSON.parse(text)]).toEqual([200, { method: other.method ?? 'POST', body: { a: 1 } }]);
      }
      expect(await send(port, { path: '/factuarea/webhook', method: 'GET' })).toMatchObject({ status: 200 });
      expect(record.outcomes).toEqual([]);
    });

    test('is not misled by a route that ran before it', async () => {
      const app = express();
      app.all(/.*/, (_req, _res, next) => next());
      app.use(webhook());
      app.get('/page', (_req, res) => {
        res.send('page');
      });
      const port = await listen(app);
      expect(await send(port, { path: '/page', method: 'GET' })).toMatchObject({ status: 200, text: 'page' });
      expect(await send(port, { path: '/factuarea/webhook', ...(await signed()) })).toMatchObject({ status: 200 });
    });

    test('also stands on a route of its own', async () => {
      const app = express();
      const both = webhook();
      app.use(both);
      app.post('/hook', both);
      const port = await listen(app);
      for (const path of ['/factuarea/webhook', '/hook']) {
        expect(await send(port, { path, ...(await signed()) })).toMatchObject({ status: 200 });
      }
    });

    test('is not misled by a route before the router that it stands in', async () => {
      const app = express();
      app.all(/.*/, (_req, _res, next) => next());
      app.use(express.Router().use(webhook()));
      app.get('/page', (_req, res) => {
        res.send('page');
      });
      const port = await listen(app);
      expect(await send(port, { path: '/page', method: 'GET' })).toMatchObject({ status: 200, text: 'page' });
      expect(await send(port, { path: '/factuarea/webhook', ...(await signed()) })).toMatchObject({ status: 200 });
    });

    test('with nothing else: the secret from the environment, the event on the request', async () => {
      const before = process.env['FACTUAREA_WEBHOOK_SECRET'];
      process.env['FACTUAREA_WEBHOOK_SECRET'] = SECRET;
      try {
        const app = express();
        app.use(factuareaWebhook({ nowSeconds: () => 1767225600 }));
        app.post('/factuarea/webhook', (req, res) => {
          res.status(202).send(req.factuarea?.event.id);
        });
        const { id, body, signature } = await signed();
        expect(await send(await listen(app), { path: '/factuarea/webhook', body, signature })).toMatchObject({
          status: 202,
          text: id,
        });
      } finally {
        if (before === undefined) delete process.env['FACTUAREA_WEBHOOK_SECRET'];
        else process.env['FACTUAREA_WEBHOOK_SECRET'] = before;
      }
    });
  });

  describe('mounted, it compares no paths', () => {
    const mounts: Record<string, () => ReturnType<typeof express5>> = {
      'on a path': () => express().use('/api/v1/wh', webhook()),
      'on a route': () => express().post('/api/v1/wh', webhook()),
      'on a route, in an async wrapper': () =>
        express().post('/api/v1/wh', (req, res, next) => {
          webhook()(req, res, next);
        }),
      'on a route of a router': () => express().use('/api/v1', express.Router().post('/wh', webhook())),
      'in a router': () => express().use('/api/v1', express.Router().use('/wh', express.Router().use(webhook()))),
      'in a sub-app': () => express().use('/api/v1', express().use('/wh', express().use(webhook()))),
      'as a sub-app': () => express().use('/api/v1', express().post('/wh', webhook())),
      'on app.route()': () => {
        const app = express();
        app.route('/api/v1/wh').all(webhook());
        return app;
      },
    };

    test.each(Object.entries(mounts))('%s', async (_, app) => {
      const port = await listen(app());
      for (const path of ['/api/v1/wh', '/api/v1/wh/', '/API/V1/WH', '/api/v1/wh?x=1']) {
        expect(await send(port, { path, ...(await signed()) })).toMatchObject({ status: 200 });
      }
      expect(handled).toHaveLength(4);
    });

    test('other methods are answered 405', async () => {
      const port = await listen(express().use('/wh', webhook()));
      const answer = await send(port, { path: '/wh', method: 'GET' });
      expect(answer).toMatchObject({ status: 405, text: '{"code":"method_not_allowed"}' });
      expect(answer.headers.allow).toBe('POST');
    });
  });

  describe('behind a body parser', () => {
    test('that ate the body: 500 at once, and the log names it', async () => {
      const port = await listen(express().use(express.json()).post('/wh', webhook()));
      const startedAt = performance.now();
      const answer = await send(port, { path: '/wh', ...(await signed()) });
      expect(answer).toMatchObject({ status: 500, text: '{"code":"body_unavailable"}' });
      expect(performance.now() - startedAt).toBeLessThan(1000);
      expect(record.logs[0]).toContain('express.json()');
      expect(record.calls).toEqual([]);
    });

    test.each([
      ['text', 'express.text()', { type: '*/*' }, 'application/json'],
      ['urlencoded', 'express.urlencoded()', { extended: true }, 'application/x-www-form-urlencoded'],
    ] as const)('%s is named as the culprit too', async (kind, name, options, type) => {
      const parser = express[kind](options as { extended: boolean });
      const port = await listen(express().use(parser).post('/wh', webhook()));
      const headers = { 'content-type': type };
      expect(await send(port, { path: '/wh', ...(await signed()), headers })).toMatchObject({ status: 500 });
      expect(record.logs[0]).toContain(name);
    });

    test('that parsed nothing: the stream is still whole', async () => {
      const port = await listen(express().use(express.json()).post('/wh', webhook()));
      const headers = { 'content-type': 'application/vnd.factuarea.v1+json' };
      expect(await send(port, { path: '/wh', ...(await signed()), headers })).toMatchObject({ status: 200 });
    });

    test('that kept the bytes on req.rawBody', async () => {
      const parser = express.json({
        verify: (req, _res, bytes) => {
          Object.assign(req, { rawBody: bytes });
        },
      });
      const port = await listen(express().use(parser).post('/wh', webhook()));
      // Spaces that JSON.stringify would not write.
      const body = '{"id":"evt_b01","type":"invoice.paid","data":{"total":12.50}}';
      const signature = 't=1767225600,v1=64f12dd56f8ffeccb956210830d577109d069ad071e032d2a3eeba7743128282';
      expect(await send(port, { path: '/wh', body, signature })).toMatchObject({ status: 200 });
      expect(handled).toEqual(['evt_b01']);
      expect(await send(port, { path: '/wh', body: body.replace('12.50', '12.5'), signature })).toMatchObject({
        status: 401,
      });
    });

    test('express.raw()', async () => {
      const port = await listen(
        express()
          .use(express.raw({ type: '*/*' }))
          .post('/wh', webhook()),
      );
      expect(await send(port, { path: '/wh', ...(await signed()) })).toMatchObject({ status: 200 });
    });

    test('over the limit, kept bytes are refused like any others', async () => {
      const parser = express.raw({ type: '*/*' });
      const small = factuareaWebhook({ ...record.options, handler, bodyLimit: 20 });
      const port = await listen(express().use(parser).post('/wh', small));
      expect(await send(port, { path: '/wh', ...(await signed()) })).toMatchObject({ status: 413 });
    });
  });

  describe('middleware form', () => {
    test('2xx is done and a repeat does not reach the route; a parser after it finds nothing to do', async () => {
      const app = express();
      app.use('/wh', held());
      app.use(express.json());
      const seen: unknown[] = [];
      app.post('/wh', (req, res) => {
        seen.push(req.factuarea?.event.id, req.body.id);
        res.status(201).json({ own: true });
      });
      const port = await listen(app);
      const { id, body, signature } = await signed();
      expect(await send(port, { path: '/wh', body, signature })).toMatchObject({ status: 201, text: '{"own":true}' });
      expect(await send(port, { path: '/wh', body, signature })).toMatchObject({
        status: 200,
        text: '{"code":"repeat"}',
      });
      expect(seen).toEqual([id, id]);
    });

    const failures: [string, express5.RequestHandler][] = [
      [
        'throws',
        () => {
          throw new Error('no ledger');
        },
      ],
      ['calls next with an error', (_req, _res, next) => next(new Error('no ledger'))],
    ];
    // Express 4 does not see what an async route throws.
    if (version === 'Express 5') failures.push(['rejects', () => Promise.reject(new Error('no ledger'))]);

    test.each(failures)(
      'a route that %s: the app’s own error answer goes out and the event is free',
      async (_, fail) => {
        let runs = 0;
        const app = express();
        app.post('/wh', held(), (req, res, next) => (runs++ > 0 ? res.send('ok') : fail(req, res, next)));
        app.use(((_error, _req, res, _next) => {
          res.status(503).send('own error page');
        }) as express5.ErrorRequestHandler);
        const port = await listen(app);
        const delivery = await signed();
        expect(await send(port, { path: '/wh', ...delivery })).toMatchObject({ status: 503, text: 'own error page' });
        expect(await send(port, { path: '/wh', ...delivery })).toMatchObject({ status: 200, text: 'ok' });
        expect(record.calls.map((call) => call.split(' ')[0])).toEqual(['claim', 'release', 'claim', 'done']);
      },
    );

    test('an event that no route takes: the app’s 404, and the event is free', async () => {
      const port = await listen(express().use('/wh', held()));
      const { id, body, signature } = await signed();
      expect(await send(port, { path: '/wh', body, signature })).toMatchObject({ status: 404 });
      expect(record.calls).toEqual([`claim ${id}`, `release ${id}`]);
    });

    test.each(['before', 'after'])('compression mounted %s it: a large stream arrives whole', async (where) => {
      const app = express();
      if (where === 'before') app.use(compression({ threshold: 0 }));
      app.use('/wh', held());
      if (where === 'after') app.use(compression({ threshold: 0 }));
      // Random text, so that the compressed stream too is larger than every buffer on the way.
      const texts = Array.from({ length: 100 }, () => randomBytes(5000).toString('hex'));
      app.post('/wh', (_req, res) => {
        res.writeHead(200, { 'content-type': 'text/plain' });
        Readable.from(texts).pipe(res);
      });
      const port = await listen(app);
      const plain = await send(port, { path: '/wh', ...(await signed()) });
      expect(plain.text === texts.join('')).toBe(true);
      const packed = await send(port, { path: '/wh', ...(await signed()), headers: { 'accept-encoding': 'gzip' } });
      expect(packed.headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(packed.bytes).toString() === texts.join('')).toBe(true);
    });

    test('res.sendFile', async () => {
      const app = express();
      app.post('/wh', held(), (_req, res) => res.sendFile(__filename));
      const answer = await send(await listen(app), { path: '/wh', ...(await signed()) });
      expect(answer.status).toBe(200);
      expect(answer.text).toContain('res.sendFile');
    });
  });

  test('next is never called with an error, whatever arrives', async () => {
    const errors: unknown[] = [];
    const app = express().use('/wh', webhook());
    app.use(((error, _req, res, _next) => {
      errors.push(error);
      res.end();
    }) as express5.ErrorRequestHandler);
    const port = await listen(app);
    const statuses: number[] = [];
    for (const sending of [
      {},
      { body: '{', signature: 't=1,v1=0' },
      { method: 'GET' },
      { body: 'x'.repeat(2_000_000) },
    ]) {
      statuses.push((await send(port, { path: '/wh', ...sending })).status);
    }
    expect(statuses).toEqual([401, 401, 405, 401]);
    expect(errors).toEqual([]);
  });
});

describe('Connect', () => {
  test('bare at the root, and on a path', async () => {
    const app = connect();
    app.use(factuareaWebhook({ ...record.options, handler }));
    app.use('/hooks', factuareaWebhook({ ...record.options, handler }));
    app.use((_req, res) => {
      res.end('other');
    });
    const port = await listen(app);
    for (const path of ['/factuarea/webhook?x=1', '/hooks', '/hooks/', '/hooks?x=1', '/HOOKS/a/b']) {
      expect(await send(port, { path, ...(await signed()) })).toMatchObject({
        status: 200,
        text: '{"code":"handled"}',
      });
    }
    expect(await send(port, { path: '/factuarea/webhook', method: 'GET' })).toMatchObject({ text: 'other' });
    expect(await send(port, { path: '/', method: 'POST' })).toMatchObject({ text: 'other' });
  });

  test('an address that another middleware rewrote is not taken for a path to stand on', async () => {
    const app = connect();
    app.use((req, _res, next) => {
      req.url = '/index.html';
      next();
    });
    app.use(factuareaWebhook({ ...record.options, handler }));
    app.use((req, res) => {
      res.end(req.url);
    });
    expect(await send(await listen(app), { path: '/about', method: 'GET' })).toMatchObject({ text: '/index.html' });
  });

  test('the middleware of the node package answers everything that reaches it', async () => {
    const app = connect();
    app.use('/hooks', nodeMiddleware(createReceiver({ ...record.options, handler })));
    const port = await listen(app);
    expect(await send(port, { path: '/hooks/a', ...(await signed()) })).toMatchObject({ status: 200 });
    await until(() => handled.length === 1);
  });
});
