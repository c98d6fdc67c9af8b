import { oldestOf } from './oldest.ts';

// Repeats come in bursts, seconds apart. A short life lets `forget` on the store take effect in every process.
const LIFE_MS = 60_000;
const MAX_IDS = 10_000;

/** A small set of ids known to be done. It stands in front of the store, so that a repeat costs no I/O. */
export interface DoneCache {
  has(id: string): boolean;
  add(id: string): void;
}

export function doneCache(): DoneCache {
  const known = new Map<string, number>();
  const oldest = oldestOf(known);
  return {
    has: (id) => (known.get(id) ?? 0) > performance.now(),
    add(id) {
      // Removed first, so that the set's order stays that of age and the oldest goes first.
      known.delete(id);
      known.set(id, performance.now() + LIFE_MS);
      if (known.size > MAX_IDS) known.delete(oldest()?.[0] as string);
    },
  };
}

/** Remembers nothing: every question goes to the store. */
export const noCache: DoneCache = { has: () => false, add() {} };
