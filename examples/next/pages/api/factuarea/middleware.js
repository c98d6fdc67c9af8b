import { factuareaWebhook } from '@factuarea-webhook/next/pages';
import { answerTo, handle } from 'factuarea-webhook-example-shared/handle.js';
import { opened, options } from '../../../webhook.js';

// Next reads this from the source, so it must stand here, as a literal.
export const config = { api: { bodyParser: false } };

export default factuareaWebhook(options, async (_request, response, context) => {
  try {
    await handle(context.event, context, (await opened()).handled);
    response.json({ handled: context.event.id });
  } catch (error) {
    const { status, body } = answerTo(error);
    response.status(status).json(body);
  }
});
