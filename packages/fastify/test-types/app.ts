import type { Context } from '@factuarea-webhook/core';
import { type FactuareaWebhookOptions, factuareaWebhook } from '@factuarea-webhook/fastify';
import Fastify from 'fastify';

/** Both forms in one app, and a marked route that sees the context's type. */
const app = Fastify();
app.register(factuareaWebhook);
app.register(factuareaWebhook, { path: '/hook', prefix: '/api', on: { 'invoice.sent': (event) => event.data } });
app.post('/marked', { config: { factuareaWebhook: true } }, async (request, reply) => {
  const context: Context<unknown> = request.factuarea;
  // @ts-expect-error -- would be silent if the context were `any`
  request.factuarea.nothing;
  return reply.code(204).send(context.event.id);
});
// @ts-expect-error -- the mark is a boolean
app.post('/mismarked', { config: { factuareaWebhook: 'yes' } }, async () => {});

export const options: FactuareaWebhookOptions<{ query(text: string): void }> = {
  handler: (_event, { tx }) => tx.query('INSERT'),
};
