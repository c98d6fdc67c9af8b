import type { Context } from '@factuarea-webhook/core';
import { type FactuareaVariables, factuareaWebhook } from '@factuarea-webhook/hono';
import { Hono } from 'hono';

/** On a route the variable's type comes by itself; with `app.use` the app names it. */
const app = new Hono();
app.use('/hooks', factuareaWebhook({ on: { 'invoice.sent': (event) => event.data } }));
app.post('/hook', factuareaWebhook(), (c) => {
  const context: Context<undefined> = c.get('factuarea');
  // @ts-expect-error -- would be silent if the context were `any`
  c.get('factuarea').nothing;
  return c.json({ id: context.event.id });
});

const named = new Hono<{ Variables: FactuareaVariables }>();
named.use(factuareaWebhook());
named.post('/factuarea/webhook', (c) => c.text(c.get('factuarea').event.id));
