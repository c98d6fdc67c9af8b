import type { AddressInfo } from 'node:net';
import { factuareaWebhook } from '@factuarea-webhook/hono';
import { adapterContract } from '@factuarea-webhook/testing';
import { contractApp } from '@factuarea-webhook/testing/contract-app';
import { serve } from '@hono/node-server';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { Hono } from 'hono';

adapterContract(
  {
    name: 'hono on node-server',
    async start(config) {
      const contract = contractApp(config);
      const app = new Hono();
      app.onError((_error, c) => c.text('Internal Server Error', 500));
      app.use('/handler', factuareaWebhook(contract.handlerOptions));
      app.use('/parsed', async (c, next) => {
        await c.req.raw.json();
        await next();
      });
      app.use('/parsed', factuareaWebhook(contract.handlerOptions));
      app.all('/middleware', factuareaWebhook(contract.middlewareOptions), (c) => contract.respond(c.get('factuarea')));
      app.get('/contract/state', (c) => c.json(contract.state()));
      const server = await new Promise<ReturnType<typeof serve>>((resolve) => {
        const made = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(made));
      });
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      return { url, close: () => new Promise((resolve) => server.close(resolve)) };
    },
  },
  { describe, test, beforeAll, afterAll },
);
