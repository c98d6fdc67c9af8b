import { type Context, createReceiver, type ReceiverOptions } from '@factuarea-webhook/core';
import { fetchHandler } from '@factuarea-webhook/core/fetch';
// With its extension, since Next has no `exports` that Node could resolve `next/server` by.
import { after, type NextRequest } from 'next/server.js';
import { late } from './late.ts';

/** The app's own part in the middleware form. Any 2xx marks the event done, anything else frees it for a retry. */
export type WebhookRoute<Tx = undefined> = (request: NextRequest, context: Context<Tx>) => Response | Promise<Response>;

/**
 * Receives Factuarea's webhooks in Next's App Router, on the Node and the Edge runtime. With `handler` or `on` it
 * answers by itself. With a `route` it verifies, calls the route once per event, and settles by its status before the
 * response leaves. The request's body has been read by then: the event is `context.event`.
 *
 * Work that goes on past the deadline is given to Next's `after`, so that the platform does not freeze it.
 *
 * @throws `config_error` for the first option that cannot work; not during `next build`, which has no secrets.
 * @example
 * ```ts
 * // app/factuarea/webhook/route.ts
 * import { factuareaWebhook } from '@factuarea-webhook/next';
 *
 * export const POST = factuareaWebhook({}, async (_request, { event }) => {
 *   console.log(event.type);
 *   return new Response(null, { status: 204 });
 * });
 * ```
 */
export function factuareaWebhook<Tx = undefined>(
  options: ReceiverOptions<Tx> = {},
  route?: WebhookRoute<Tx>,
): (request: NextRequest) => Promise<Response> {
  const handle = late(() => fetchHandler(createReceiver(options), route));
  return (request) => handle()(request, { waitUntil: after });
}
