// @ts-check
import { factuareaWebhook } from '@factuarea-webhook/express';
import express from 'express';
import { answerTo, handle } from 'factuarea-webhook-example-shared/handle.js';
import { namedSecrets, settings } from 'factuarea-webhook-example-shared/settings.js';
import { openStore } from 'factuarea-webhook-example-shared/store.js';

const { port, storeUrl, timeoutSeconds } = settings();
const { store, handled, close } = await openStore(storeUrl);
const options = { secret: namedSecrets(), store, timeoutSeconds };

const app = express();

// The handler form: the package answers, by how the handler ends.
app.post(
  '/factuarea/webhook',
  factuareaWebhook({ ...options, handler: (event, context) => handle(event, context, handled) }),
);

// The middleware form: the app answers. 2xx marks the event as done; an error or any other status frees it.
app.post('/factuarea/middleware', factuareaWebhook(options), async ({ factuarea }, res) => {
  if (!factuarea) throw new Error('This route stands behind factuareaWebhook(), so there is always a context.');
  await handle(factuarea.event, factuarea, handled);
  res.json({ handled: factuarea.event.id });
});

// Body parsers come after the webhook, which needs the bytes as they came.
app.use(express.json());

app.get('/handled', async (_req, res) => {
  res.json(await handled.list());
});

// Express's own error page would show the stack, and Factuarea keeps what a route answers. 422 is not sent again.
/** @type {express.ErrorRequestHandler} */
const answerError = (error, _req, res, _next) => {
  const { status, body } = answerTo(error);
  res.status(status).json(body);
};
app.use(answerError);

const server = app.listen(port, '127.0.0.1', (error) => {
  if (error) throw error;
  const address = server.address();
  console.log(`listening on http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  // Running requests come to their end, then the store is closed and the process ends by itself.
  process.once(signal, () => {
    server.close(() => close());
    setInterval(() => server.closeIdleConnections(), 50).unref();
  });
}
