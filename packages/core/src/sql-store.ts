import { type PruneScheduleOptions, type StopPruning, schedulePrune } from './prune.ts';
import type { Claim, ClaimOptions, PruneOptions, Store } from './types.ts';

/** How many ids are done, and since when. */
export interface StoreStats {
  readonly count: number;
  /** When the id that was done first was done; undefined where there is none. */
  readonly oldest: Date | undefined;
  readonly newest: Date | undefined;
  /** Ids done per day in UTC, by the store's clock: `{ '2026-01-31': 12 }`, oldest first. */
  readonly byDay: Readonly<Record<string, number>>;
}

/** A store in a table. Every call rejects with `store_unavailable` where the database does not do as asked. */
export interface SqlStore<Tx> extends Store<Tx> {
  claim(id: string, options: ClaimOptions): Promise<Claim<Tx>>;
  /** Deletes ids that were done before `olderThan`, in small batches, from any number of processes at once; gives the number deleted. */
  prune(options?: PruneOptions): Promise<number>;
  /** Prunes now and then for as long as the process lives. Gives the function that stops it. */
  schedulePrune(options?: PruneScheduleOptions): StopPruning;
  /** Forgets an id, so that its next delivery is handled again. True when it was known. */
  forget(id: string): Promise<boolean>;
  /** Makes the table and its index where they are missing, and checks them where not. Safe from many at once. */
  migrate(): Promise<void>;
  /** The DDL of the table, for migrations of your own. */
  readonly schema: string;
  /** Counts the ids that are done, by reading the whole table: for the command line, not for every request. */
  stats(): Promise<StoreStats>;
  /** Stops scheduled prunings, and waits for one that is under way. What the store was given stays open: it is yours. */
  close(): Promise<void>;
}

/** The scheduled prunings of one store. */
export interface PruneSchedules {
  readonly schedulePrune: (options?: PruneScheduleOptions) => StopPruning;
  /** Stops them all, and waits for those that are under way. */
  stopAll(): Promise<void>;
}

/** Keeps the schedules that are made of `prune`, so that the store can end them when it is closed. */
export function pruneSchedules(prune: (options?: PruneOptions) => Promise<number>): PruneSchedules {
  const stops = new Set<StopPruning>();
  return {
    schedulePrune(options) {
      const stopNow = schedulePrune(prune, options);
      const stop = (): Promise<void> => {
        stops.delete(stop);
        return stopNow();
      };
      stops.add(stop);
      return stop;
    },
    async stopAll() {
      await Promise.all([...stops].map((stop) => stop()));
    },
  };
}
