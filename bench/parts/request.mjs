import { compared } from '../figures.mjs';
import { deliveries, rounds, startServer } from '../load.mjs';

export const title = 'Whole requests';

export const method = `New events of 1 KB over 20 kept connections, with the memory store. *Bare* is a route of the same framework that
reads the body and answers 200: no signature, no event. *Recipe* is what a careful user writes by hand in that route:
verify, parse, look into a Set, run the handler, add to the Set.`;

export async function run({ quick, figure }) {
  for (const framework of ['node', 'express', 'fastify', 'hono']) {
    const servers = {};
    for (const kind of ['ours', 'bare', 'recipe']) servers[kind] = await startServer(framework, kind);
    const load = () => ({ counted: deliveries(quick ? 2000 : 6000) });
    const results = await rounds(servers, { rounds: quick ? 4 : 8, load });
    for (const server of Object.values(servers)) await server.stop();
    for (const rival of ['bare', 'recipe']) {
      figure({
        id: `request-${framework}-vs-${rival}`,
        ...compared(results.ours.perSecond, results[rival].perSecond),
        better: 'higher',
        goal: rival === 'bare' ? 0.85 : undefined,
        unit: 'requests/s',
      });
    }
  }
}
