import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { factuareaWebhook } from '@factuarea-webhook/fastify';
import { adapterContract } from '@factuarea-webhook/testing';
import { contractApp } from '@factuarea-webhook/testing/contract-app';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import Fastify from 'fastify';

adapterContract(
  {
    name: 'fastify 5',
    async start(config) {
      const app = contractApp(config);
      const server = Fastify({ forceCloseConnections: true });
      await server.register(factuareaWebhook, { path: '/handler', ...app.handlerOptions });
      await server.register(async (scope) => {
        // Fastify's own parsers come after us; what comes first are hooks, such as Express middleware run by a bridge.
        scope.addHook('onRequest', async ({ raw }) => Object.assign(raw, { body: await json(raw) }));
        await scope.register(factuareaWebhook, { path: '/parsed', ...app.handlerOptions });
      });
      await server.register(factuareaWebhook, app.middlewareOptions);
      server.all('/middleware', { config: { factuareaWebhook: true } }, async (request, reply) => {
        const { status, headers, body, close } = await app.route(request.factuarea);
        if (close) {
          reply.hijack().raw.destroy();
          return reply;
        }
        return reply
          .code(status)
          .headers(headers)
          .send(typeof body === 'string' ? body : Readable.from(body));
      });
      server.get('/contract/state', async () => app.state());
      const url = await server.listen({ port: 0, host: '127.0.0.1' });
      return { url, close: () => server.close() };
    },
  },
  { describe, test, beforeAll, afterAll },
);
