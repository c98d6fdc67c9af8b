// @ts-check
import { factuareaWebhook } from '@factuarea-webhook/hono';
import { serve } from '@hono/node-server';
import { answerTo, handle } from 'factuarea-webhook-example-shared/handle.js';
import { namedSecrets, settings } from 'factuarea-webhook-example-shared/settings.js';
import { openStore } from 'factuarea-webhook-example-shared/store.js';
import { Hono } from 'hono';

const { port, storeUrl, timeoutSeconds } = settings();
const { store, handled, close } = await openStore(storeUrl);
const options = { secret: namedSecrets(), store, timeoutSeconds };

const app = new Hono();

// The handler form: the package answers, by how the handler ends.
app.post(
  '/factuarea/webhook',
  factuareaWebhook({ ...options, handler: (event, context) => handle(event, context, handled) }),
);

// The middleware form: the app answers. 2xx marks the event as done; an error or any other status frees it.
app.post('/factuarea/middleware', factuareaWebhook(options), async (c) => {
  const factuarea = c.get('factuarea');
  await handle(factuarea.event, factuarea, handled);
  return c.json({ handled: factuarea.event.id });
});

app.get('/handled', async (c) => c.json(await handled.list()));

app.onError((error) => {
  const { status, body } = answerTo(error);
  return Response.json(body, { status });
});

const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, (address) => {
  console.log(`listening on http://127.0.0.1:${address.port}`);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  // Running requests come to their end, then the store is closed and the process ends by itself.
  process.once(signal, () => server.close(() => close()));
}
