import { makers } from './app.mjs';

const fetch = makers[process.env.CONTRACT_APP](JSON.parse(process.env.CONTRACT_CONFIG));
const at = { port: 0, hostname: '127.0.0.1' };
const tell = (port) => console.log(`listening on http://127.0.0.1:${port}`);

if (globalThis.Bun) {
  tell(globalThis.Bun.serve({ ...at, fetch: (request) => fetch(request) }).port);
} else if (globalThis.Deno) {
  globalThis.Deno.serve({ ...at, onListen: ({ port }) => tell(port) }, (request) => fetch(request));
} else {
  const { serve } = await import('@hono/node-server');
  serve({ ...at, fetch: (request) => fetch(request) }, ({ port }) => tell(port));
}
