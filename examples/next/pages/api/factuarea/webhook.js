import { factuareaWebhook } from '@factuarea-webhook/next/pages';
import { handle } from 'factuarea-webhook-example-shared/handle.js';
import { opened, options } from '../../../webhook.js';

// Next reads this from the source, so it must stand here, as a literal.
export const config = { api: { bodyParser: false } };

export default factuareaWebhook({
  ...options,
  handler: async (event, context) => handle(event, context, (await opened()).handled),
});
