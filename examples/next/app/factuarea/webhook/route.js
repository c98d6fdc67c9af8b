import { factuareaWebhook } from '@factuarea-webhook/next';
import { handle } from 'factuarea-webhook-example-shared/handle.js';
import { opened, options } from '../../../webhook.js';

// The handler form: the package answers, by how the handler ends.
export const POST = factuareaWebhook({
  ...options,
  handler: async (event, context) => handle(event, context, (await opened()).handled),
});
