/**
 * One receiver as a process of its own, so that the load does not slow down what is measured.
 * Arguments: framework (node, express, fastify, hono), kind (bare, recipe, ours), the store's address, no-cache.
 */
import { createServer } from 'node:http';
import { contender } from './stores.mjs';

const [, , framework, kind, storeUrl = 'memory:', cache = 'cache'] = process.argv;
const secret = process.env.FACTUAREA_WEBHOOK_SECRET;
const { recipe, store, handler } = await contender(storeUrl);
const ours = {
  secret,
  store,
  handler,
  cache: cache !== 'no-cache',
  logger: { info() {}, warn() {}, error: console.error },
};

/** Reads the bytes and answers: what no receiver can do without. */
const bare = async () => 200;
const answer = kind === 'bare' ? bare : (bytes, signature) => recipe(bytes, signature, secret);

const servers = {
  async node() {
    if (kind === 'ours') {
      const { createReceiver } = await import('@factuarea-webhook/core');
      const { nodeHandler } = await import('@factuarea-webhook/node');
      return createServer(nodeHandler(createReceiver(ours)));
    }
    return createServer(async (req, res) => {
      const chunks = [];
      for await (const chunk of req) chunks.push(chunk);
      res.writeHead(await answer(Buffer.concat(chunks), req.headers['factuarea-signature'])).end('{}');
    });
  },

  async express() {
    const { default: express } = await import('express');
    const app = express();
    if (kind === 'ours') {
      const { factuareaWebhook } = await import('@factuarea-webhook/express');
      app.post('/', factuareaWebhook(ours));
    } else {
      app.post('/', express.raw({ type: () => true, limit: '1mb' }), async (req, res) => {
        res.status(await answer(req.body, req.headers['factuarea-signature'])).json({});
      });
    }
    return createServer(app);
  },

  async fastify() {
    const { default: Fastify } = await import('fastify');
    const app = Fastify();
    if (kind === 'ours') {
      const { factuareaWebhook } = await import('@factuarea-webhook/fastify');
      await app.register(factuareaWebhook, { path: '/', ...ours });
    } else {
      app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_req, body, done) => done(null, body));
      app.post('/', async (req, reply) =>
        reply.code(await answer(req.body, req.headers['factuarea-signature'])).send({}),
      );
    }
    await app.ready();
    return app.server;
  },

  async hono() {
    const { Hono } = await import('hono');
    const { createAdaptorServer } = await import('@hono/node-server');
    const app = new Hono();
    if (kind === 'ours') {
      const { factuareaWebhook } = await import('@factuarea-webhook/hono');
      app.post('/', factuareaWebhook(ours));
    } else {
      app.post('/', async (c) => {
        const bytes = Buffer.from(await c.req.arrayBuffer());
        return c.json({}, await answer(bytes, c.req.header('factuarea-signature')));
      });
    }
    return createAdaptorServer({ fetch: app.fetch });
  },
};

const server = await servers[framework]();
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.on('message', () => process.send(process.cpuUsage()));
process.on('disconnect', () => process.exit());
