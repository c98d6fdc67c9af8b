import type { NodeRequest } from '@factuarea-webhook/node';

/** What Express and Connect note on a request about where it is being handled. */
interface Routed extends NodeRequest {
  readonly originalUrl?: string;
  readonly baseUrl?: string;
  readonly route?: { readonly stack: readonly Layer[] };
  readonly app?: { readonly _router?: { readonly stack: readonly Layer[] }; readonly router?: Layer['handle'] };
}

interface Layer {
  readonly handle: unknown;
  readonly route?: unknown;
}

/** Whether the middleware stands on a path or a route, so that whatever reaches it is meant for it. */
export function isMounted(req: NodeRequest, middleware: unknown): boolean {
  const { baseUrl, route, originalUrl = '', url = '', app } = req as Routed;
  // Connect has no `baseUrl`: it cuts the path that a middleware stands on off `url`, and adds a slash to what is empty.
  if (baseUrl === undefined) {
    return originalUrl !== url && (originalUrl.endsWith(url) || originalUrl.endsWith(url.slice(1)));
  }
  if (baseUrl !== '') return true;
  if (!route) return false;
  // `route` may be left over from a route that has called `next`, such as `app.all('*', authenticate)`. Where the
  // middleware is neither on that route nor used by a router, something like an async wrapper stands around it.
  // Express 4 throws from `app.router`, so its own field is asked first.
  const { stack } = (app?._router ?? app?.router ?? {}) as { stack?: readonly Layer[] };
  return route.stack.some(({ handle }) => handle === middleware) || !isUsed(stack, middleware);
}

function isUsed(stack: readonly Layer[] = [], middleware: unknown): boolean {
  return stack.some(
    ({ handle, route }) =>
      !route && (handle === middleware || isUsed((handle as { stack?: readonly Layer[] }).stack, middleware)),
  );
}

/** What a bare `app.use(factuareaWebhook())` answers: the path is compared as Express compares a route's. */
export function isDefaultRequest({ method, url = '' }: NodeRequest): boolean {
  return method === 'POST' && /^(?:https?:\/\/[^/?#]*)?\/factuarea\/webhook\/?(?:[?#]|$)/i.test(url);
}
