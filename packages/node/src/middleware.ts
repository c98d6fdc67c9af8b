import type { ServerResponse } from 'node:http';
import { type Context, FactuareaWebhookError, type Receiver } from '@factuarea-webhook/core';
import { type HeldResponse, holdResponse } from './hold.ts';
import { toIncoming } from './incoming.ts';
import { writeOutgoing } from './outgoing.ts';
import type { NodeHandler, NodeMiddleware, NodeRequest, NodeResponse } from './types.ts';

/**
 * Makes the function that `http.createServer` takes. It answers every request that reaches it.
 *
 * @throws `config_error` where the receiver has no handler: nothing stands behind this function that could answer.
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { createReceiver } from '@factuarea-webhook/core';
 * import { nodeHandler } from '@factuarea-webhook/node';
 *
 * createServer(nodeHandler(createReceiver({ handler: (event) => console.log(event.type) }))).listen(3000);
 * ```
 */
export function nodeHandler<Tx>(receiver: Receiver<Tx>): NodeHandler {
  if (!receiver.hasHandler) {
    throw new FactuareaWebhookError('config_error', 'The receiver has no handler. Give `handler` or `on`.');
  }
  return (req, res) => {
    void handle(receiver, req, res);
  };
}

/**
 * Makes a middleware `(req, res, next)`. With a handler in the receiver it answers by itself. Without one it puts the
 * context on `req.factuarea`, lets the app's route run, and settles the event by the status that the route answers
 * with, before the first byte of the answer has left, also where the sender is gone by then. It calls `next` without an
 * error, or not at all.
 *
 * @param accepts Tells the requests that are meant for the webhook; all others go to `next` untouched. Default: all are.
 * @example
 * ```ts
 * import connect from 'connect';
 *
 * const app = connect();
 * app.use('/hooks', nodeMiddleware(createReceiver({ handler: (event) => console.log(event.type) })));
 * ```
 */
export function nodeMiddleware<Tx>(
  receiver: Receiver<Tx>,
  accepts: (req: NodeRequest) => boolean = () => true,
): NodeMiddleware {
  return (req, res, next) => {
    if (!accepts(req)) return next();
    void (receiver.hasHandler ? handle(receiver, req, res) : letRouteHandle(receiver, req, res, next));
  };
}

async function handle<Tx>(receiver: Receiver<Tx>, req: NodeRequest, res: NodeResponse): Promise<void> {
  try {
    await writeOutgoing(res, await receiver.receive(toIncoming(req, res)));
  } catch {
    (res as ServerResponse).destroy();
  }
}

async function letRouteHandle<Tx>(
  receiver: Receiver<Tx>,
  req: NodeRequest,
  res: NodeResponse,
  next: () => void,
): Promise<void> {
  let held: HeldResponse | undefined;
  try {
    const outgoing = await receiver.receive(toIncoming(req, res), (_event, context) => {
      showContext(req, context);
      held = holdResponse(res);
      next();
      return held.status;
    });
    if (!held) await writeOutgoing(res, outgoing);
    else if (outgoing.body === null) held.letGo();
    else held.replace(outgoing);
  } catch (error) {
    // Only what the app wrote can fail here, such as a header that HTTP does not allow. The claim is settled by then, so
    // no other answer would be true.
    process.emitWarning(error as Error);
    (res as ServerResponse).destroy();
  }
}

function showContext<Tx>(req: NodeRequest, context: Context<Tx>): void {
  const app = req as { factuarea?: unknown; body?: unknown; _body?: boolean };
  app.factuarea = context;
  // The stream is read. A parser mounted after us must not try again: Express 4's looks at `_body` and fails otherwise.
  app.body ??= context.event;
  app._body = true;
}
