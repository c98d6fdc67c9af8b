import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Incoming } from '@factuarea-webhook/core';
import { readBody } from './body.ts';
import type { NodeRequest, NodeResponse } from './types.ts';

/**
 * Turns a request of `node:http` into what the receiver takes. The body is taken from the untouched stream, or from
 * bytes that another middleware kept in `req.rawBody` (Buffer, Uint8Array or string) or `req.body` (Buffer). Nothing is
 * read before the receiver asks for it.
 *
 * @param res Needed only where the server has a `checkContinue` listener, to send `100 Continue` before reading.
 * @example
 * ```ts
 * const receiver = createReceiver({ handler: (event) => console.log(event.type) });
 * http.createServer(async (req, res) => writeOutgoing(res, await receiver.receive(toIncoming(req, res))));
 * ```
 */
export function toIncoming(req: NodeRequest, res?: NodeResponse): Incoming {
  const request = req as IncomingMessage;
  // A listener of another middleware, such as a log's, would set the stream flowing before the receiver asks for it.
  const isAhead = request.readableFlowing === true && !request.readableDidRead;
  if (isAhead) request.pause();
  return {
    method: req.method ?? '',
    header: (name) => req.headers[name],
    body(limit) {
      if (isAhead) request.resume();
      return readBody(request, res as ServerResponse | undefined, limit);
    },
  };
}
