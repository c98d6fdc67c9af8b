import { type Context, createReceiver, type ReceiverOptions } from '@factuarea-webhook/core';
import { type NodeMiddleware, nodeMiddleware } from '@factuarea-webhook/node';
import { isDefaultRequest, isMounted } from './mount.ts';

declare global {
  // The namespace through which Express's own types, where they are loaded, take additions.
  namespace Express {
    interface Request {
      /** The verified event and its delivery, where `factuareaWebhook()` without a handler stands before the route. */
      factuarea?: Context<unknown>;
    }
  }
}

/**
 * Receives Factuarea's webhooks in Express 4 and 5 (and Connect). Stands before any body parser.
 *
 * With `handler` or `on` it answers by itself. Without them it puts the verified event on `req.factuarea` and lets the
 * app's own route answer: 2xx settles the event as done, anything else frees it, and no byte of the answer leaves before
 * that. Repeats are answered 200 and never reach the route.
 *
 * A bare `app.use(factuareaWebhook())` answers `POST /factuarea/webhook` and passes everything else on untouched. Mounted
 * on a path, in a router or on a route it answers whatever reaches it.
 *
 * @param options The receiver's options. Default: the secret from `FACTUAREA_WEBHOOK_SECRET`, ids kept in memory.
 * @throws `config_error` for the first option that cannot work. The middleware itself never throws, and calls `next`
 * without an error.
 * @example
 * ```ts
 * import { factuareaWebhook } from '@factuarea-webhook/express';
 * import express from 'express';
 *
 * const app = express();
 * app.use(factuareaWebhook({ handler: (event) => console.log(event.type, event.id) }));
 * app.use(express.json());
 * app.listen(3000);
 * ```
 */
export function factuareaWebhook<Tx = undefined>(options: ReceiverOptions<Tx> = {}): NodeMiddleware {
  const middleware: NodeMiddleware = nodeMiddleware(
    createReceiver(options),
    (req) => isMounted(req, middleware) || isDefaultRequest(req),
  );
  return middleware;
}
