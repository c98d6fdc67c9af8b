import { compared } from '../figures.mjs';
import { deliveries, rounds, startServer } from '../load.mjs';

export const title = 'Whole requests';

export const method = `New events of 1 KB over 20 kept connections, with the memory store. *Bare* is a route of the same framework that
reads the body and answers 200: no signature, no event. *Recipe* is what a careful user writes by hand in that route:
verify, parse, look into a Set, run the handler, add to the Set. On few cores the sender of the
load sets the pace, so the second figure of each pair counts requests per second of the server's own processor time: what
one core could take with nothing in its way. Bare spends none of it on a signature or on JSON.`;

export async function run({ quick, figure }) {
  for (const framework of ['node', 'express', 'fastify', 'hono']) {
    const servers = {};
    for (const kind of ['ours', 'bare', 'recipe']) servers[kind] = await startServer(framework, kind);
    const load = () => ({ counted: deliveries(quick ? 1500 : 6000) });
    const results = await rounds(servers, { rounds: quick ? 2 : 8, load });
    for (const server of Object.values(servers)) await server.stop();
    for (const rival of ['bare', 'recipe']) {
      const ours = results.ours;
      const theirs = results[rival];
      figure({
        id: `request-${framework}-vs-${rival}`,
        ...compared(ours.perSecond, theirs.perSecond),
        better: 'higher',
        goal: rival === 'bare' ? 0.85 : undefined,
        unit: 'requests/s',
      });
      figure({
        id: `request-${framework}-core-vs-${rival}`,
        ...compared(ours.perProcessorSecond, theirs.perProcessorSecond),
        better: 'higher',
        unit: 'requests/s of a core',
      });
    }
  }
}
