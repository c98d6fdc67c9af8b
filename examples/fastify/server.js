// @ts-check
import { factuareaWebhook } from '@factuarea-webhook/fastify';
import { answerTo, handle } from 'factuarea-webhook-example-shared/handle.js';
import { namedSecrets, settings } from 'factuarea-webhook-example-shared/settings.js';
import { openStore } from 'factuarea-webhook-example-shared/store.js';
import Fastify from 'fastify';

const { port, storeUrl, timeoutSeconds } = settings();
const { store, handled, close } = await openStore(storeUrl);
const options = { secret: namedSecrets(), store, timeoutSeconds };

const app = Fastify();

// The handler form: the package makes the route /factuarea/webhook and answers, by how the handler ends.
app.register(factuareaWebhook, { ...options, handler: (event, context) => handle(event, context, handled) });

// The middleware form: the app answers. 2xx marks the event as done; an error or any other status frees it.
await app.register(factuareaWebhook, options);
app.post('/factuarea/middleware', { config: { factuareaWebhook: true } }, async ({ factuarea }) => {
  await handle(factuarea.event, factuarea, handled);
  return { handled: factuarea.event.id };
});

app.get('/handled', async () => handled.list());

app.setErrorHandler((error, _request, reply) => {
  const { status, body } = answerTo(error);
  return reply.code(status).send(body);
});

console.log(`listening on ${await app.listen({ port, host: '127.0.0.1' })}`);

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    // Running requests come to their end, then the store is closed and the process ends by itself.
    await app.close();
    close();
  });
}
