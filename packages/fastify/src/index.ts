import { type Context, createReceiver, FactuareaWebhookError, type ReceiverOptions } from '@factuarea-webhook/core';
import { nodeMiddleware } from '@factuarea-webhook/node';
import type {
  FastifyInstance,
  FastifyPluginAsync,
  FastifyRequest,
  onRequestHookHandler,
  RegisterOptions,
} from 'fastify';
import fastifyPlugin from 'fastify-plugin';

/**
 * What `app.register(factuareaWebhook, …)` takes: the receiver's options, and where to listen. Annotate them where the
 * handler uses the store's transaction: `const options: FactuareaWebhookOptions<PoolClient> = { … }`.
 */
export interface FactuareaWebhookOptions<Tx = undefined> extends ReceiverOptions<Tx> {
  /** The route of the handler form, under `prefix`. Default `/factuarea/webhook`. */
  readonly path?: string | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The verified event and what belongs to it, in routes with `config: { factuareaWebhook: true }`. */
    factuarea: Context<unknown>;
  }
  interface FastifyContextConfig {
    /** Lets Factuarea's events through to this route, each once, and nothing else. */
    factuareaWebhook?: boolean;
  }
}

/**
 * Receives Factuarea's webhooks in Fastify 5. With `handler` or `on` it makes a route of its own that answers by
 * itself. Without them it guards the routes marked `config: { factuareaWebhook: true }`: it verifies, puts the event on
 * the request as `request.factuarea`, lets the route run, and settles by its status before the first byte leaves: 2xx
 * marks the event done, anything else frees it for a retry.
 *
 * It works before Fastify looks at the body, so it needs no content-type parser and changes none. Register the
 * middleware form before the plugins that hold marked routes, as with any hook.
 *
 * @throws `config_error` for the first option that cannot work, when the app is made ready.
 * @example
 * ```ts
 * import { factuareaWebhook } from '@factuarea-webhook/fastify';
 * import Fastify from 'fastify';
 *
 * const app = Fastify();
 * await app.register(factuareaWebhook);
 * app.post('/factuarea/webhook', { config: { factuareaWebhook: true } }, async (request, reply) => {
 *   console.log(request.factuarea.event.type);
 *   return reply.code(204).send();
 * });
 * ```
 */
export const factuareaWebhook: FastifyPluginAsync<FactuareaWebhookOptions<unknown>> = fastifyPlugin(register, {
  name: '@factuarea-webhook/fastify',
  fastify: '5.x',
});

async function register(
  app: FastifyInstance,
  options: RegisterOptions & FactuareaWebhookOptions<unknown>,
): Promise<void> {
  const { path, prefix, logLevel, logSerializers, ...rest } = options;
  const receiver = createReceiver(rest);
  const webhook = nodeMiddleware(receiver);
  if (receiver.hasHandler) {
    // Past Fastify's own way of answering, so that the sender gets the same bytes from every framework.
    const onRequest: onRequestHookHandler = (request, reply) => webhook(request.raw, reply.hijack().raw, () => {});
    // Registered, since only a plugin of its own is given Fastify's own options.
    app.register(
      async (scope) => {
        scope.all(path ?? '/factuarea/webhook', { onRequest }, async () => {});
      },
      { prefix, logLevel, logSerializers } as RegisterOptions,
    );
    return;
  }
  if (path !== undefined) {
    throw new FactuareaWebhookError(
      'config_error',
      '`path` is for `handler` and `on`. Without them, mark routes of your own: `config: { factuareaWebhook: true }`.',
    );
  }
  if (app.hasRequestDecorator('factuarea')) {
    throw new FactuareaWebhookError(
      'config_error',
      'The middleware form is registered twice here, so that marked routes would claim each event twice.',
    );
  }
  app.decorateRequest('factuarea');
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.routeOptions.config?.factuareaWebhook) return done();
    webhook(request.raw, reply.raw, () => {
      const { factuarea, body } = request.raw as unknown as Pick<FastifyRequest, 'factuarea' | 'body'>;
      request.factuarea = factuarea;
      request.body = body;
      // The bytes are read, so Fastify is told that there are none: it would wait for them, or refuse their type.
      request.headers = { 'content-type': undefined, 'content-length': undefined, 'transfer-encoding': undefined };
      done();
    });
  });
}
