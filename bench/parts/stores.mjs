import { randomUUID } from 'node:crypto';
import { alternate } from '../compare.mjs';
import { compared, counted } from '../figures.mjs';
import { kinds, take } from '../rivals/shortest.mjs';
import { countingProxy } from '../wire.mjs';

export const title = 'Redis, MySQL and SQLite';

export const method = `One id after the other, without HTTP, against the shortest thing that can be written: one \`SET … NX\`, or one
\`INSERT\`. That marks an id **before** its handler has run, so that a failed handler loses the event: it is a floor, not a
choice. Ours claims, and marks afterwards. Each server and file as it is installed, MariaDB for MySQL. SQLite runs inside
the process and commits to the disk, so what it takes is the disk's: ours commits twice where the rival commits once.`;

export async function run({ quick, figure }) {
  for (const [name, { start, open, rival }] of Object.entries(kinds)) {
    const server = await start();
    const facts = { better: 'lower', unit: 'µs' };
    const { store, insert, close } = await open(server.url);
    for (const [what, idOf] of Object.entries(idsOf)) {
      const times = await alternate(
        { ours: workOf((id) => take(store, id), idOf(), what), theirs: workOf(insert, idOf(), what) },
        { rounds: quick ? 7 : 15, msPerRound: quick ? 60 : 250 },
      );
      const micros = (all) => all.map((nanos) => nanos / 1000);
      figure({ id: `${name}-${what}-vs-${rival}`, ...compared(micros(times.ours), micros(times.theirs)), ...facts });
    }
    await close();
    if (/^\w+:/.test(server.url)) await countTrips({ name, open, rival, figure, url: server.url });
    await server.stop();
  }
}

async function countTrips({ name, open, rival, figure, url }) {
  const proxy = await countingProxy(url);
  const { store, insert, close } = await open(proxy.url);
  for (const [what, idOf] of Object.entries(idsOf)) {
    const ours = workOf((id) => take(store, id), idOf(), what);
    const theirs = workOf(insert, idOf(), what);
    // The first of each opens the connection, looks at the table, teaches the server its scripts.
    await ours();
    await theirs();
    const trips = counted(await proxy.count(ours), await proxy.count(theirs));
    figure({ id: `${name}-${what}-trips-vs-${rival}`, ...trips, better: 'lower', unit: 'round trips' });
  }
  await close();
  await proxy.stop();
}

/** Where the ids come from: each is new, or all are one. */
const idsOf = {
  new: () => randomUUID,
  repeat() {
    const id = randomUUID();
    return () => id;
  },
};

/** One call to be measured, which also sees that it did what it should. */
function workOf(call, nextId, what) {
  let calls = 0;
  return async () => {
    const wasNew = await call(nextId());
    if (wasNew !== (what === 'new' || calls === 0)) throw new Error('A new id passed for a repeat, or the reverse.');
    calls++;
  };
}
