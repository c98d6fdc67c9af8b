import { createReceiver } from '@factuarea-webhook/core';
import { fetchHandler } from '@factuarea-webhook/core/fetch';
import { contractApp } from '@factuarea-webhook/testing/contract-app';

/** The contract's app as a Fetch handler, with nothing but the core under it. */
export function makeFetch(config) {
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
