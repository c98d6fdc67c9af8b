import { start } from '../../scripts/servers/postgres.mjs';
import { compared } from '../figures.mjs';
import { deliveries, rounds, startServer } from '../load.mjs';

export const title = 'Repeats on Postgres';

export const method = `A storm of copies of events that have just been handled, against the recipe as above: once with the set of ids known
to be done that stands in front of every store, once without it (\`cache: false\`). On Express, as people have it, and on
\`node:http\`, where the framework's own time is out of the way. *Bare* is the route that reads the body and answers 200,
without looking at it: no receiver can be faster.`;

export async function run({ quick, figure }) {
  const postgres = await start();
  const load = () => {
    const before = deliveries(100);
    return { before, counted: Array.from({ length: quick ? 5 : 20 }, () => before).flat() };
  };
  const facts = { better: 'higher', unit: 'requests/s' };
  for (const framework of ['express', 'node']) {
    const servers = {
      cached: await startServer(framework, 'ours', postgres.url),
      uncached: await startServer(framework, 'ours', postgres.url, 'no-cache'),
      bare: await startServer(framework, 'bare', postgres.url),
      recipe: await startServer(framework, 'recipe', postgres.url),
    };
    const { recipe, ...others } = await rounds(servers, { rounds: quick ? 2 : 10, load });
    for (const server of Object.values(servers)) await server.stop();
    const on = framework === 'express' ? '' : `-${framework}`;
    for (const [kind, name, goal] of [
      ['cached', '', 5],
      ['uncached', '-uncached', 1.3],
      ['bare', '-bare'],
    ]) {
      const ratio = compared(others[kind].perSecond, recipe.perSecond);
      figure({ id: `repeats${on}${name}-vs-recipe`, ...ratio, ...facts, goal });
    }
  }
  await postgres.stop();
}
