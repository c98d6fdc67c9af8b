import type { Context, FactuareaEvent } from '@factuarea-webhook/core';
import { factuareaWebhook } from '@factuarea-webhook/express';
import express, { type RequestHandler } from 'express';

/** Everywhere that Express takes a middleware, with a route after it that sees the context's type. */
const app = express();
app.use(factuareaWebhook());
app.use('/hooks', factuareaWebhook({ on: { 'invoice.sent': (event) => event.data } }));
app.post('/hook', factuareaWebhook(), (req, res) => {
  const context: Context<unknown> | undefined = req.factuarea;
  const event: FactuareaEvent | undefined = context?.event;
  // @ts-expect-error -- would be silent if the context were `any`
  req.factuarea?.nothing;
  res.json({ id: event?.id });
});
app.all('/hook/:id', [factuareaWebhook(), express.json()]);
express.Router().route('/hook').post(factuareaWebhook());

export const handler: RequestHandler = factuareaWebhook({ handler: async ({ id }, { tx }) => [id, tx] });
