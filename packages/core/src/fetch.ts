import { FactuareaWebhookError } from './errors.ts';
import type { Receiver } from './receiver.ts';
import type { Incoming, Outgoing } from './types.ts';

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

/**
 * Makes the function that Bun, Deno, Cloudflare Workers and every other Fetch-style server take.
 *
 * @throws `config_error` where the receiver has no handler: a Fetch handler is the whole answer.
 * @example
 * ```ts
 * import { createReceiver } from '@factuarea-webhook/core';
 * import { fetchHandler } from '@factuarea-webhook/core/fetch';
 *
 * const handle = fetchHandler(createReceiver({ handler: (event) => console.log(event.type) }));
 * export default { fetch: (request, env, context) => handle(request, context) };
 * ```
 */
export function fetchHandler<Tx>(
  receiver: Receiver<Tx>,
): (request: FetchRequest, platform?: FetchPlatform) => Promise<FetchResponse> {
  if (!receiver.hasHandler) {
    throw new FactuareaWebhookError('config_error', 'The receiver has no handler. Give `handler` or `on`.');
  }
  return async (request, platform) => toResponse(await receiver.receive(toIncoming(request, platform)));
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
  if (request.bodyUsed || request.body?.locked) {
    throw new FactuareaWebhookError(
      'body_unavailable',
      'The request’s body has been read already. Call the webhook handler before anything that reads the body.',
    );
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (request.body) {
    const reader = request.body.getReader();
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new FactuareaWebhookError('body_incomplete', 'The body ended with an error.', { cause });
      });
      if (done) break;
      const chunk = value as Uint8Array;
      size += chunk.byteLength;
      if (size > limit) {
        // Not awaited: a sender that never stops need not let this end.
        reader.cancel().catch(() => {});
        throw new FactuareaWebhookError('body_too_large', `The body is over ${limit} bytes.`);
      }
      chunks.push(chunk);
    }
  }
  return join(chunks, size);
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
