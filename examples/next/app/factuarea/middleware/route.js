import { factuareaWebhook } from '@factuarea-webhook/next';
import { answerTo, handle } from 'factuarea-webhook-example-shared/handle.js';
import { opened, options } from '../../../webhook.js';

// The middleware form: the app answers. 2xx marks the event as done; an error or any other status frees it.
export const POST = factuareaWebhook(options, async (_request, context) => {
  try {
    await handle(context.event, context, (await opened()).handled);
    return Response.json({ handled: context.event.id });
  } catch (error) {
    const { status, body } = answerTo(error);
    return Response.json(body, { status });
  }
});
