import { factuareaWebhook } from '@factuarea-webhook/next';
import { factuareaWebhook as inPages } from '@factuarea-webhook/next/pages';
import type { NextApiHandler } from 'next';
import type { NextRequest } from 'next/server.js';

/** Both routers and both forms, as Next's own checks take them. */
export const POST: (request: NextRequest) => Promise<Response> = factuareaWebhook({
  on: { 'invoice.sent': (event) => event.data },
});
export const routed: typeof POST = factuareaWebhook({}, (request, { event }) => {
  // @ts-expect-error -- would be silent if the event were `any`
  event.nothing;
  return Response.json({ id: event.id, at: request.nextUrl.pathname });
});
export const pages: NextApiHandler = inPages({ handler: (event) => event.id });
export const pagesRouted: NextApiHandler = inPages({}, (_request, response, { event }) => {
  response.status(200).json({ id: event.id });
});
