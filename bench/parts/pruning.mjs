import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { counted, number, percentile } from '../figures.mjs';
import { kinds } from '../rivals/aged.mjs';
import { timed } from '../rivals/shortest.mjs';

export const title = 'Claims while four processes prune';

export const method = `The 99th percentile of claims with their mark, one after the other, without HTTP, while four other
processes prune old ids, against the same claims undisturbed, in turns. The machine's cores hold all of it: the claims, the processes
that prune, the database and its disk. Each server is as it is installed, MariaDB for MySQL.`;

const PROCESSES = 4;

export async function run({ quick, figure }) {
  const { rounds, claims, old } = quick
    ? { rounds: 1, claims: 100, old: 2000 }
    : { rounds: 5, claims: 400, old: 10_000 };
  const servers = new Map();
  const pruners = await Promise.all(Array.from({ length: PROCESSES }, startPruner));
  for (const [name, { start, open }] of Object.entries(kinds)) {
    // Both modes of a database have one server, each a table of its own.
    const server = servers.get(start) ?? (await start());
    servers.set(start, server);
    const { store, age, close } = await open(server.url);
    const pruneAll = () => Promise.all(pruners.map((pruner) => prune(pruner, name, server.url)));
    // The first one opens the store.
    await pruneAll();
    await timed(store, randomUUID, (done) => done < claims);
    const times = { quiet: [], pruning: [] };
    for (let round = 0; round < rounds; round++) {
      await age(old);
      times.quiet.push(...(await timed(store, randomUUID, (done) => done < claims)));
      let isDone = false;
      const pruned = pruneAll().finally(() => {
        isDone = true;
      });
      times.pruning.push(...(await timed(store, randomUUID, () => !isDone)));
      const deleted = (await pruned).reduce((sum, count) => sum + count, 0);
      if (deleted !== old) throw new Error(`${number(deleted)} ids were pruned, and not ${number(old)}.`);
    }
    const facts = { better: 'lower', goal: 2, unit: 'ms' };
    figure({
      id: `pruning-${name}-p99`,
      ...counted(percentile(times.pruning, 0.99), percentile(times.quiet, 0.99)),
      ...facts,
    });
    await close();
  }
  for (const pruner of pruners) pruner.disconnect();
  await Promise.all(pruners.map((pruner) => pruner.exitCode ?? once(pruner, 'exit')));
  for (const server of servers.values()) await server.stop();
}

async function startPruner() {
  const pruner = fork(new URL('../rivals/pruner.mjs', import.meta.url));
  await once(pruner, 'message');
  return pruner;
}

async function prune(pruner, kind, url) {
  pruner.send({ kind, url });
  return (await once(pruner, 'message'))[0];
}
