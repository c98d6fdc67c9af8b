import {
  type Context,
  createReceiver,
  FactuareaWebhookError,
  hasCode,
  type Receiver,
  type ReceiverOptions,
} from '@factuarea-webhook/core';
import { type NodeMiddleware, nodeMiddleware } from '@factuarea-webhook/node';
import type { NextApiRequest, NextApiResponse } from 'next';
import { late } from './late.ts';

/** The app's own part in the middleware form. It answers through `response`; any 2xx marks the event done. */
export type WebhookRoute<Tx = undefined> = (
  request: NextApiRequest,
  response: NextApiResponse,
  context: Context<Tx>,
) => unknown;

/**
 * Receives Factuarea's webhooks in Next's Pages Router. With `handler` or `on` it answers by itself. With a `route` it
 * verifies, calls the route once per event, and settles by its status before the first byte leaves: 2xx marks the event
 * done, anything else frees it for a retry.
 *
 * The route's file must itself export the `config` below, written out as a literal: Next reads it from the source. Where
 * it is missing, every delivery is answered 500 `body_unavailable`.
 *
 * @throws `config_error` for the first option that cannot work; not during `next build`, which has no secrets.
 * @example
 * ```ts
 * // pages/api/factuarea.ts
 * import { factuareaWebhook } from '@factuarea-webhook/next/pages';
 *
 * export const config = { api: { bodyParser: false } };
 * export default factuareaWebhook({ handler: (event) => console.log(event.type) });
 * ```
 */
export function factuareaWebhook<Tx = undefined>(
  options: ReceiverOptions<Tx> = {},
  route?: WebhookRoute<Tx>,
): (request: NextApiRequest, response: NextApiResponse) => Promise<void> {
  const webhook = late(() => makeWebhook(options, route !== undefined));
  return (request, response) =>
    new Promise((resolve, reject) => {
      // Only now may the platform take the request for done: the route returns before its answer is let out.
      response.once('finish', resolve).once('close', resolve);
      webhook()(request, response, () => {
        const { factuarea } = request as unknown as { factuarea: Context<Tx> };
        (async () => route?.(request, response, factuarea))().catch(reject);
      });
    });
}

function makeWebhook<Tx>(options: ReceiverOptions<Tx>, hasRoute: boolean): NodeMiddleware {
  const receiver = createReceiver(options);
  if (receiver.hasHandler === hasRoute) {
    throw new FactuareaWebhookError('config_error', 'Give `handler` or `on`, or a route: one of them, not both.');
  }
  return nodeMiddleware(inPages(receiver));
}

/** The receiver, with what is particular about a Pages Router's request. */
function inPages<Tx>(receiver: Receiver<Tx>): Receiver<Tx> {
  return {
    ...receiver,
    receive: (incoming, route) =>
      receiver.receive({ ...incoming, body: (limit) => incoming.body(limit).catch(nameTheLiteral), waitUntil }, route),
  };
}

function nameTheLiteral(cause: unknown): never {
  if (!hasCode(cause, 'body_unavailable')) throw cause;
  throw new FactuareaWebhookError(
    'body_unavailable',
    'Next has parsed the body. Write this into the route’s own file, as it stands: export const config = { api: { bodyParser: false } };',
    { cause },
  );
}

/** Where Next itself finds its platform's `waitUntil`. Its `after` does not work in the Pages Router. */
function waitUntil(work: Promise<unknown>): void {
  const holder = globalThis as { [key: symbol]: { get(): { waitUntil?(work: Promise<unknown>): void } } | undefined };
  holder[Symbol.for('@next/request-context')]?.get().waitUntil?.(work);
}
