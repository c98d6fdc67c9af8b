import { start } from '../../scripts/servers/postgres.mjs';
import { compared } from '../figures.mjs';
import { deliveries, rounds, startServer } from '../load.mjs';

export const title = 'Repeats on Postgres';

export const method = `A storm of copies of events that have just been handled, against the recipe on Express as above: once with the set of
ids known to be done that stands in front of every store, once without it (\`cache: false\`).`;

export async function run({ quick, figure }) {
  const postgres = await start();
  const servers = {
    cached: await startServer('express', 'ours', postgres.url),
    uncached: await startServer('express', 'ours', postgres.url, 'no-cache'),
    recipe: await startServer('express', 'recipe', postgres.url),
  };
  const load = () => {
    const before = deliveries(100);
    return { before, counted: Array.from({ length: quick ? 10 : 40 }, () => before).flat() };
  };
  const { cached, uncached, recipe } = await rounds(servers, { rounds: quick ? 4 : 10, load });
  for (const server of Object.values(servers)) await server.stop();
  await postgres.stop();
  const facts = { better: 'higher', unit: 'requests/s' };
  figure({ id: 'repeats-vs-recipe', ...compared(cached.perSecond, recipe.perSecond), ...facts, goal: 5 });
  figure({ id: 'repeats-uncached-vs-recipe', ...compared(uncached.perSecond, recipe.perSecond), ...facts, goal: 1.3 });
}
