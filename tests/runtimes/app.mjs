import { createReceiver } from '@factuarea-webhook/core';
import { fetchHandler } from '@factuarea-webhook/core/fetch';
import { factuareaWebhook } from '@factuarea-webhook/hono';
import { contractApp } from '@factuarea-webhook/testing/contract-app';
import { Hono } from 'hono';

/** The contract's app as the function that a Fetch-style server takes, made by one of these. */
export const makers = { fetch: makeFetch, hono: makeHono };

/** With nothing but the core under it. */
function makeFetch(config) {
  const app = contractApp(config);
  const handler = fetchHandler(createReceiver(app.handlerOptions));
  const routes = {
    '/handler': handler,
    '/middleware': fetchHandler(createReceiver(app.middlewareOptions), (_request, context) => app.respond(context)),
    async '/parsed'(request, platform) {
      await request.text();
      return handler(request, platform);
    },
    '/contract/state': () => Response.json(app.state()),
  };
  return (request, platform) => routes[new URL(request.url).pathname](request, platform);
}

function makeHono(config) {
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
  return (request, platform) => app.fetch(request, undefined, platform);
}
