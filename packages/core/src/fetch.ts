import { configError, FactuareaWebhookError } from './errors.ts';
import type { Receiver } from './receiver.ts';
import type { Context, Incoming, Outgoing } from './types.ts';

/** The platform's `Request` where its types are loaded, else the part of it that is used. */
export type FetchRequest = typeof globalThis extends { Request: { prototype: infer T } } ? T : RequestLike;

/** The platform's `Response` where its types are loaded. */
export type FetchResponse = typeof globalThis extends { Response: { prototype: infer T } } ? T : object;

/** What is used of a Fetch `Request`. */
export interface RequestLike {
  readonly method: string;
  readonly headers: { get(name: string): string | null };
  readonly body: StreamLike | null;
  readonly bodyUsed: boolean;
  arrayBuffer?(): Promise<ArrayBuffer>;
}

/** What is used of a Web `ReadableStream`. */
export interface StreamLike {
  readonly locked: boolean;
  getReader(): {
    read(): Promise<{ done: boolean; value?: unknown }>;
    cancel(reason?: unknown): Promise<unknown>;
  };
}

/** Where the platform freezes a process that has answered: its `waitUntil`, as Workers give it. */
export interface FetchPlatform {
  waitUntil?(work: Promise<unknown>): void;
}

/** The app's own route in the middleware form: handles the event and answers. 2xx marks the event done. */
export type FetchRoute<Tx = undefined, Request = FetchRequest> = (
  request: Request,
  context: Context<Tx>,
) => FetchResponse | Promise<FetchResponse>;

/**
 * Makes the function that Bun, Deno, Cloudflare Workers and every other Fetch-style server take. With `route` it is the
 * middleware form: the route is called once per event, any 2xx of its marks the event done, and its `Response` goes
 * out as it is, streams included.
 *
 * @throws `config_error` where the receiver has no handler and no route is given, or where it has both.
 * @example
 * ```ts
 * import { createReceiver } from '@factuarea-webhook/core';
 * import { fetchHandler } from '@factuarea-webhook/core/fetch';
 *
 * const handle = fetchHandler(createReceiver({ handler: (event) => console.log(event.type) }));
 * export default { fetch: (request, env, context) => handle(request, context) };
 * ```
 */
export function fetchHandler<Tx, Request extends FetchRequest | RequestLike = FetchRequest>(
  receiver: Receiver<Tx>,
  route?: FetchRoute<Tx, Request>,
): (request: Request, platform?: FetchPlatform) => Promise<FetchResponse> {
  if (!route) {
    if (!receiver.hasHandler) throw configError('There is nothing to run. Give `handler` or `on`, or a route.');
    return async (request, platform) => toResponse(await receiver.receive(toIncoming(request, platform)));
  }
  if (receiver.hasHandler) throw configError('Give a route, or `handler` or `on`, not both.');
  return async (request, platform) => {
    let answering: Promise<ResponseLike> | undefined;
    const outgoing = await receiver.receive(toIncoming(request, platform), async (_event, context) => {
      answering = (async () => (await route(request, context)) as ResponseLike)();
      return (await answering).status;
    });
    if (outgoing.body === null) return (await answering) as FetchResponse;
    // Nobody will read what the route answers, perhaps only later, so its source must not wait for a reader.
    answering?.then(({ body }) => body?.cancel()).catch(() => {});
    return toResponse(outgoing);
  };
}

interface ResponseLike {
  readonly status: number;
  readonly body: { cancel(): Promise<unknown> } | null;
}

/** Turns a Fetch `Request` into what the receiver takes. */
export function toIncoming(request: FetchRequest | RequestLike, platform?: FetchPlatform): Incoming {
  const { method, headers } = request as RequestLike;
  return {
    method,
    header: (name) => headers.get(name),
    body: (limit) => readBody(request as RequestLike, limit),
    waitUntil: (work) => platform?.waitUntil?.(work),
  };
}

/** Turns the receiver's answer into a Fetch `Response`. */
export function toResponse({ status, headers, body }: Outgoing): FetchResponse {
  return new Response(body, { status, headers: { ...headers } }) as FetchResponse;
}

async function readBody(request: RequestLike, limit: number): Promise<Uint8Array> {
  if (request.bodyUsed) throw alreadyRead();
  // The receiver has held the declared length against the limit, and the server holds the body to it. Some adapters of
  // Node have a short way to all of the bytes, where the stream made the whole request take four times as long.
  if (request.arrayBuffer && Number(request.headers.get('content-length') ?? Number.NaN) <= limit) {
    const bytes = new Uint8Array(await request.arrayBuffer().catch(refuse));
    if (bytes.byteLength > limit) throw tooLarge(limit);
    return bytes;
  }
  if (request.body?.locked) throw alreadyRead();
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (request.body) {
    const reader = request.body.getReader();
    for (;;) {
      const { done, value } = await reader.read().catch(refuse);
      if (done) break;
      const chunk = value as Uint8Array;
      size += chunk.byteLength;
      if (size > limit) {
        // Not awaited: a sender that never stops need not let this end.
        reader.cancel().catch(() => {});
        throw tooLarge(limit);
      }
      chunks.push(chunk);
    }
  }
  return join(chunks, size);
}

function alreadyRead(cause?: unknown): FactuareaWebhookError {
  return new FactuareaWebhookError(
    'body_unavailable',
    'The request’s body has been read already. Call the webhook handler before anything that reads the body.',
    { cause },
  );
}

function refuse(cause: unknown): never {
  // A body that somebody else holds is refused with these words by Node, Bun, Deno and workerd, and with a TypeError as
  // the Fetch standard has it, which some of them also throw for a connection that broke.
  const { name, message } = (cause ?? {}) as { name?: unknown; message?: unknown };
  if (name === 'TypeError' && /\b(unusable|used|locked|disturbed)\b/i.test(`${message}`)) throw alreadyRead(cause);
  throw new FactuareaWebhookError('body_incomplete', 'The body ended with an error.', { cause });
}

function tooLarge(limit: number): FactuareaWebhookError {
  return new FactuareaWebhookError('body_too_large', `The body is over ${limit} bytes.`);
}

function join(chunks: readonly Uint8Array[], size: number): Uint8Array {
  if (chunks.length === 1) return chunks[0] as Uint8Array;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
