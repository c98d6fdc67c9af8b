import { randomUUID } from 'node:crypto';
import { compared, counted, number, percentile } from '../figures.mjs';
import { guideBytes, kinds } from '../rivals/grown.mjs';
import { take, timed } from '../rivals/shortest.mjs';

export const title = 'Growth';

export const method = `A store that keeps many ids against the same store on an empty server or table: *new* claims and marks, *repeat* asks for
kept ids at random (of which the empty one has a thousand), *recent* for one of the last 90 000, which is what comes in
the two and a half hours of the first four retries at ten events a second; one after the other, without HTTP. The ids are version 7 UUIDs in the order of their time, as Factuarea
gives them. Bytes an id, indexes included, stand against the guide's table in Postgres, for SQLite in SQLite. Pruning deletes
old ids in batches while claims go on: their p99 against what it was before.`;

const RECENT = 90_000;

export async function run({ quick, figure }) {
  const [sizes, pruned] = quick ? [[20_000, 100_000], 20_000] : [[1_000_000, 10_000_000], 1_000_000];
  const guide = await guideBytes(sizes[0]);
  for (const [name, open] of Object.entries(kinds)) {
    const { empty, full, fill, idAt, bytes, cutoff, close } = await open();
    let kept = 0;
    for (const size of sizes) {
      await fill(kept, size);
      kept = size;
      const oneOf = (count) => idAt(kept - 1 - Math.floor(Math.random() * count));
      const idsOf = { new: randomUUID, repeat: () => oneOf(kept), recent: () => oneOf(Math.min(kept, RECENT)) };
      for (const [what, idOf] of Object.entries(idsOf)) {
        const { ours, theirs } = await alternately(full, empty, idOf, quick ? 200 : 1500);
        const goal = size === sizes.at(-1) ? { goal: 1.2 } : {};
        const facts = { better: 'lower', unit: 'µs', ...goal };
        figure({ id: `growth-${name}-${what}-${label(size)}-vs-empty`, ...compared(ours, theirs), ...facts });
      }
      if (size !== sizes[0]) continue;
      const rival = guide[name] ?? guide.postgres;
      figure({
        id: `growth-${name}-bytes-vs-guide`,
        ...counted(await bytes(kept), rival),
        better: 'lower',
        unit: 'bytes',
      });
    }
    if (cutoff) {
      const { quiet, pruning } = await whilePruning(full, cutoff(pruned), pruned);
      const facts = { better: 'lower', goal: 2, unit: 'ms' };
      figure({ id: `growth-${name}-prune-${label(pruned)}-p99`, ...counted(pruning, quiet), ...facts });
    }
    await close();
  }
}

/** Medians in microseconds, in rounds that take turns. */
async function alternately(full, empty, idOf, count) {
  const times = { ours: [], theirs: [] };
  // What an empty store has to keep to be asked for repeats at random as well.
  const few = Array.from({ length: 1000 }, () => randomUUID());
  const isNew = idOf === randomUUID;
  if (!isNew) for (const id of few) await take(empty, id);
  for (let round = 0; round < 9; round++) {
    const turns = [
      ['ours', full, idOf],
      ['theirs', empty, isNew ? randomUUID : () => few[Math.floor(Math.random() * few.length)]],
    ];
    for (const [side, store, next] of round % 2 ? turns : turns.toReversed()) {
      await take(store, next());
      const each = await timed(store, next, (done) => done < count, isNew);
      times[side].push(percentile(each, 0.5) * 1000);
    }
  }
  return times;
}

async function whilePruning(store, olderThan, expected) {
  const end = performance.now() + 5000;
  const quiet = await timed(store, randomUUID, () => performance.now() < end);
  let isDone = false;
  const prune = store.prune({ olderThan }).finally(() => {
    isDone = true;
  });
  const pruning = await timed(store, randomUUID, () => !isDone);
  const deleted = await prune;
  if (deleted !== expected) throw new Error(`${number(deleted)} ids were pruned, and not ${number(expected)}.`);
  return { quiet: percentile(quiet, 0.99), pruning: percentile(pruning, 0.99) };
}

function label(size) {
  return size >= 1e6 ? `${size / 1e6}m` : `${size / 1000}k`;
}
