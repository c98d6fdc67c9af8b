import { createReceiver } from '@factuarea-webhook/core';
import { start } from '../../scripts/servers/postgres.mjs';
import { compared, counted } from '../figures.mjs';
import { deliveries, incoming, rounds, secret, startServer } from '../load.mjs';
import { contender } from '../rivals/stores.mjs';
import { countingProxy } from '../wire.mjs';

export const title = 'New events on Postgres';

export const method = `Transaction mode against the guide's recipe, written by hand on Express with \`pg\`: BEGIN, INSERT … ON CONFLICT DO
NOTHING, the handler, COMMIT. The same pool of 10, the same handler (one INSERT through the transaction), Postgres as it
is installed, 20 connections. Round trips are counted by a proxy on the wire, the handler's own one among them.`;

export async function run({ quick, figure }) {
  const postgres = await start();
  const servers = {};
  for (const kind of ['ours', 'recipe']) servers[kind] = await startServer('express', kind, postgres.url);
  const load = () => ({ counted: deliveries(quick ? 600 : 2000) });
  const { ours, recipe } = await rounds(servers, { rounds: quick ? 2 : 12, load });
  for (const server of Object.values(servers)) await server.stop();
  const throughput = compared(ours.perSecond, recipe.perSecond);
  figure({ id: 'postgres-new-vs-recipe', ...throughput, better: 'higher', goal: 1, unit: 'requests/s' });
  figure({ id: 'postgres-new-p99-vs-recipe', ...compared(ours.p99, recipe.p99), better: 'lower', goal: 1, unit: 'ms' });
  const trips = await roundTrips(postgres.url);
  figure({ id: 'postgres-new-trips-vs-recipe', ...trips, better: 'lower', unit: 'round trips' });
  await postgres.stop();
}

async function roundTrips(url) {
  const proxy = await countingProxy(url);
  const { store, handler, recipe, close } = await contender(proxy.url);
  const receiver = createReceiver({ secret, store, handler });
  const take = async ([delivery]) => {
    const { status } = await receiver.receive(incoming(delivery));
    if (status !== 200) throw new Error(`Answered ${status}.`);
  };
  const takeByHand = ([{ body, headers }]) => recipe(Buffer.from(body), headers['factuarea-signature'], secret);
  // The first of each opens the connection and looks at the table.
  await take(deliveries(1));
  await takeByHand(deliveries(1));
  const ours = await proxy.count(() => take(deliveries(1)));
  const theirs = await proxy.count(() => takeByHand(deliveries(1)));
  await close();
  await proxy.stop();
  return counted(ours, theirs);
}
