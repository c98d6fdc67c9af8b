import {
  type Context,
  createReceiver,
  FactuareaWebhookError,
  type Incoming,
  type ReceiverOptions,
} from '@factuarea-webhook/core';
import { toIncoming, toResponse } from '@factuarea-webhook/core/fetch';
import type { Context as HonoContext, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';

/** What the middleware form puts on Hono's context: `c.get('factuarea')`. */
export interface FactuareaVariables<Tx = undefined> {
  factuarea: Context<Tx>;
}

/** Where a bare `app.use(factuareaWebhook())` listens. */
const DEFAULT_PATH = '/factuarea/webhook';

/**
 * Receives Factuarea's webhooks in Hono. With `handler` or `on` it answers by itself. Without them it verifies, puts
 * the event on the context as `c.get('factuarea')`, lets the app's own route run, and settles by its status: 2xx marks
 * the event done, anything else frees it for a retry.
 *
 * On a path (`app.post(path, …)`, `app.use(path, …)`) it takes whatever reaches it. Bare, as
 * `app.use(factuareaWebhook())`, it takes `POST /factuarea/webhook` and passes everything else on.
 *
 * @throws `config_error` for the first option that cannot work.
 * @example
 * ```ts
 * import { factuareaWebhook } from '@factuarea-webhook/hono';
 * import { Hono } from 'hono';
 *
 * const app = new Hono();
 * app.post('/factuarea/webhook', factuareaWebhook(), (c) => {
 *   console.log(c.get('factuarea').event.type);
 *   return c.body(null, 204);
 * });
 * ```
 */
export function factuareaWebhook<Tx = undefined>(
  options: ReceiverOptions<Tx> = {},
): MiddlewareHandler<{ Variables: FactuareaVariables<Tx> }> {
  const receiver = createReceiver(options);
  const keep = keepAwake();
  return async (c, next) => {
    if (routePath(c) === '/*' && (c.req.path !== DEFAULT_PATH || c.req.method !== 'POST')) return next();
    if (receiver.hasHandler) return toResponse(await receiver.receive(incoming(c, keep)));

    const outgoing = await receiver.receive(incoming(c, keep), async (_event, context) => {
      c.set('factuarea', context);
      await next();
      return c.res.status;
    });
    if (outgoing.body === null) return;
    // Hono copies the headers of a response that is replaced, so the route's own one is dropped first.
    c.res = undefined;
    c.res = toResponse(outgoing);
  };
}

function incoming(c: HonoContext, keep: ReturnType<typeof keepAwake>): Incoming {
  const request = toIncoming(c.req.raw);
  return {
    ...request,
    async body(limit) {
      const bytes = (await cachedBytes(c, limit)) ?? (await request.body(limit));
      // The app's own route reads through this cache, and the stream behind it is used up.
      const cache: Record<string, unknown> = c.req.bodyCache;
      cache['arrayBuffer'] ??= Promise.resolve(bytes.slice().buffer);
      return bytes;
    },
    waitUntil: (work) => keep(c, work),
  };
}

/** Gives work to the platform's execution context, and asks no more once there was none. */
function keepAwake(): (c: HonoContext, work: Promise<unknown>) => void {
  let hasContext = true;
  return (c, work) => {
    if (!hasContext) return;
    try {
      c.executionCtx.waitUntil(work);
    } catch {
      // Hono throws where the platform gives no context, and an error for each request is dear.
      hasContext = false;
    }
  };
}

/** The exact bytes that an earlier middleware left in Hono's cache; undefined when nobody has read the body. */
async function cachedBytes(c: HonoContext, limit: number): Promise<Uint8Array | undefined> {
  const { bodyCache } = c.req;
  // The first entry was read from the request; Hono makes others from it.
  const [kind] = Object.keys(bodyCache) as (keyof typeof bodyCache)[];
  if (kind === undefined) return undefined;
  const bytes = await exactBytes(kind, await bodyCache[kind], c.req.header('content-length'));
  if (!bytes) {
    throw new FactuareaWebhookError(
      'body_unavailable',
      `c.req.${kind}() was called before, and its result has lost the exact bytes. Mount the webhook before that, or call c.req.arrayBuffer() there.`,
    );
  }
  if (bytes.length > limit) throw new FactuareaWebhookError('body_too_large', `The body is over ${limit} bytes.`);
  return bytes;
}

async function exactBytes(kind: string, value: unknown, declared: string | undefined): Promise<Uint8Array | undefined> {
  if (kind === 'arrayBuffer') return new Uint8Array(value as ArrayBuffer);
  if (kind === 'blob') return new Uint8Array(await (value as Blob).arrayBuffer());
  if (kind !== 'text') return undefined;
  // Decoding loses a byte order mark and turns broken UTF-8 into U+FFFD. A text without the latter that has the
  // declared length has lost neither.
  const bytes = new TextEncoder().encode(value as string);
  return (value as string).includes('\uFFFD') || String(bytes.length) !== declared ? undefined : bytes;
}
