import { between, checkNames } from './checks.ts';
import { configError } from './errors.ts';
import { attempt, pause } from './time.ts';
import type { PruneOptions } from './types.ts';

const DAY_MS = 86_400_000;

/** Options of `schedulePrune`. */
export interface PruneScheduleOptions {
  /** Seconds from one pruning to the next, varied by a tenth either way. Default 3600; 1 to 604 800. */
  readonly every?: number;
  /** Rows deleted in one statement. Default 500. */
  readonly batchSize?: number;
  /** Called with what a pruning threw; the next one is tried all the same. Default: a line on the console. */
  readonly onError?: (error: unknown) => unknown;
}

/** Stops the schedule. Resolves once a pruning that is under way has ended. */
export type StopPruning = () => Promise<void>;

/**
 * Calls `prune` now and then for as long as the process lives, and never keeps it alive. The first call comes at a
 * random moment within `every`, so that processes started together do not prune together.
 *
 * @throws `config_error` for an option that does not exist or is out of range.
 * @example
 * ```ts
 * const stop = schedulePrune((options) => store.prune(options), { every: 3600 });
 * process.once('SIGTERM', stop);
 * ```
 */
export function schedulePrune(
  prune: (options: PruneOptions) => PromiseLike<unknown>,
  options: PruneScheduleOptions = {},
): StopPruning {
  checkNames(options, ['every', 'batchSize', 'onError']);
  const { onError = logError, every: seconds, ...batch } = options;
  const every = between('every', seconds, 3600, 1, 604_800);
  const { batchSize } = prunePlan(batch);
  let running: Promise<void> = Promise.resolve();
  let timer = wait(Math.random() * every);

  function wait(seconds: number): ReturnType<typeof setTimeout> {
    const started = setTimeout(run, seconds * 1000);
    // Node keeps a process alive for its timers; elsewhere a timer is a number.
    (started as { unref?: () => unknown }).unref?.();
    return started;
  }

  function run(): void {
    timer = wait(every * (0.9 + Math.random() / 5));
    const before = running;
    running = before
      .then(() => prune({ batchSize }))
      .then(
        () => {},
        (error: unknown) => {
          attempt(() => onError(error));
        },
      );
  }

  return async () => {
    clearTimeout(timer);
    await running;
  };
}

function logError(error: unknown): void {
  console.warn('Factuarea webhook: old event ids could not be pruned. The next pruning tries again.', error);
}

/** Checked prune options, in the units that SQL works in. */
export interface PrunePlan {
  /** What was done before this moment goes, in Unix milliseconds. Undefined: what has been done for `ageMs`. */
  readonly before: number | undefined;
  /** To be taken off the store's own clock. */
  readonly ageMs: number;
  readonly batchSize: number;
}

/** @throws `config_error` for what cannot be a date or a batch. */
export function prunePlan(options: PruneOptions = {}, ageMs: number = 90 * DAY_MS): PrunePlan {
  checkNames(options, ['olderThan', 'batchSize']);
  const { olderThan, batchSize = 500 } = options;
  if (!Number.isInteger(batchSize) || batchSize < 1 || batchSize > 100_000) {
    throw configError('`batchSize` must be a whole number from 1 to 100000.');
  }
  const before = olderThan === undefined ? undefined : Number(olderThan);
  if (before !== undefined && !(olderThan instanceof Date && before >= 0)) {
    throw configError('`olderThan` must be a valid Date.');
  }
  return { before, ageMs, batchSize };
}

/** Remembers the longest retention that claims have named, which is what a pruning without `olderThan` keeps. */
export function retentionSeen(): { note(retentionMs: number): void; readonly ageMs: number } {
  let longest = 0;
  return {
    note(retentionMs) {
      longest = Math.max(longest, retentionMs);
    },
    get ageMs() {
      return longest || 90 * DAY_MS;
    },
  };
}

// Nobody waits for a pruning, but claims wait where it takes the disk, the lock or the processor from them.
const PAUSE_TO_WORK = 19;
const LONGEST_PAUSE_MS = 1000;

/**
 * Deletes batch after batch until one comes back short. The pause after each is measured by how long it took, so that a
 * pruning works for a twentieth of the time, and steps back by itself where the database is slow or others prune too.
 */
export async function inBatches(deleteBatch: () => Promise<number>, { batchSize }: PrunePlan): Promise<number> {
  for (let total = 0; ; ) {
    const startedAt = performance.now();
    const deleted = await deleteBatch();
    total += deleted;
    if (deleted < batchSize) return total;
    const ms = (performance.now() - startedAt) * PAUSE_TO_WORK;
    // Varied, so that processes which prune together do not meet again and again.
    await pause(Math.min(ms, LONGEST_PAUSE_MS) * (0.75 + Math.random() / 2));
  }
}
