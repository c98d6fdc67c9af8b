import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Outgoing } from '@factuarea-webhook/core';
import { awaitsContinue } from './body.ts';
import type { NodeResponse } from './types.ts';

/** So much of an unread body is worth reading to keep the connection for the sender's next delivery. */
const SMALL_REST_BYTES = 65_536;
/** How long an unread body is thrown away, so that the sender gets to read the answer before the connection closes. */
const REST_MS = 1000;

/**
 * Writes the receiver's answer. A body that nobody has read is thrown away: a small one leaves the connection usable,
 * after a large or endless one it is closed. Resolves once the answer is written; never rejects. Does nothing where the
 * connection is gone, or where something else has answered.
 *
 * @example
 * ```ts
 * await writeOutgoing(res, await receiver.receive(toIncoming(req, res)));
 * ```
 */
export async function writeOutgoing(response: NodeResponse, { status, headers, body }: Outgoing): Promise<void> {
  const res = response as ServerResponse;
  const { req } = res;
  // The rest of a short body is mostly there already, in the packet that brought the headers.
  if (hasRest(req)) await new Promise(setImmediate);
  if (res.headersSent || res.writableEnded || res.destroyed) {
    req?.resume();
    return;
  }

  const rest = hasRest(req) ? restOf(req, res) : 'none';
  const isLast = rest === 'large' || rest === 'withheld';
  const text = body ?? '';
  // Filled one by one: spreading objects into one took four times as long as all of `writeHead`.
  const head: Record<string, string> = {};
  for (const name in headers) head[name] = headers[name] as string;
  head['content-length'] = String(Buffer.byteLength(text));
  if (isLast && req.httpVersionMajor < 2) head['connection'] = 'close';
  res.writeHead(status, head);
  if (rest === 'none' || rest === 'withheld') {
    res.end(text);
    // What was paused half-read would keep the connection's next request waiting.
    req?.resume();
    return;
  }
  // The sender has the whole answer with this write. Ending it would make Node close the connection, and closing with
  // bytes unread makes the kernel send a reset, which can take the answer away from a sender that is still sending.
  res.write(text);
  // Where the method is HEAD, `write` sends nothing.
  res.flushHeaders();
  const isDrained = await throwRestAway(req);
  res.end(() => {
    if (!isDrained) req.destroy();
  });
}

function hasRest(req: IncomingMessage | undefined): req is IncomingMessage {
  return req !== undefined && !req.complete && !req.destroyed;
}

function restOf(req: IncomingMessage, res: ServerResponse): 'withheld' | 'small' | 'large' {
  if (awaitsContinue(req, res)) return 'withheld';
  return Number(req.headers['content-length'] ?? Number.NaN) <= SMALL_REST_BYTES ? 'small' : 'large';
}

function throwRestAway(req: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), REST_MS);
    req.on('error', () => {});
    for (const event of ['end', 'close']) {
      req.once(event, () => {
        clearTimeout(timer);
        resolve(true);
      });
    }
    req.resume();
  });
}
