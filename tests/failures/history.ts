import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** What happened, as the processes wrote it down while it did. */
export interface Entry {
  /** `start` and `success`: a handler's run. `answer`: what the sender got, and when it had got it. */
  readonly kind: 'start' | 'success' | 'answer';
  readonly id: string;
  /** Nanoseconds of the machine's monotonic clock, which all processes share. */
  readonly at: number;
  readonly pid: number;
  readonly fence?: number;
  readonly status?: number;
}

/** Appends one entry. Written at once and in one piece, so that it outlives a SIGKILL of the writer. */
export function record(file: string, entry: Omit<Entry, 'at' | 'pid'>): void {
  const full: Entry = { ...entry, at: Number(process.hrtime.bigint()), pid: process.pid };
  appendFileSync(file, `${JSON.stringify(full)}\n`);
}

export function readHistory(file: string): Entry[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Entry).sort((a, b) => a.at - b.at);
}

export interface Facts {
  /** How often each id's effect is in the database. */
  readonly effects: ReadonlyMap<string, number>;
  /** Lease stores: the lease in milliseconds. Left out for transactions, where nothing may ever overlap or repeat. */
  readonly leaseMs?: number;
}

/**
 * Checks a history against what the stores promise, and gives a sentence for each breach:
 * no 2xx before a run succeeded; with transactions one effect at most; with leases a second run only past the first
 * one's lease; and always a larger fence in the later run.
 */
export function breaches(history: readonly Entry[], { effects, leaseMs }: Facts): string[] {
  const found: string[] = [];
  for (const id of new Set(history.map((entry) => entry.id))) {
    const entries = history.filter((entry) => entry.id === id);
    const succeeded = entries.find((entry) => entry.kind === 'success')?.at ?? Number.POSITIVE_INFINITY;
    const accepted = entries.filter(({ kind, status = 0 }) => kind === 'answer' && status >= 200 && status <= 299);
    if (accepted.some(({ at }) => at < succeeded)) found.push(`${id}: answered 2xx before any run had succeeded.`);
    const count = effects.get(id) ?? 0;
    if (accepted.length > 0 && count === 0) found.push(`${id}: answered 2xx, and its effect is nowhere.`);
    if (leaseMs === undefined && count > 1) found.push(`${id}: its effect is there ${count} times.`);

    const runs = entries.filter((entry) => entry.kind === 'start');
    for (const [index, run] of runs.entries()) {
      const before = runs[index - 1];
      if (!before) continue;
      if ((run.fence ?? 0) <= (before.fence ?? 0)) {
        found.push(`${id}: the run with fence ${run.fence} began after the one with fence ${before.fence}.`);
      }
      const ended = entries.some(({ kind, fence, at }) => kind === 'success' && fence === before.fence && at < run.at);
      // A process that was killed or whose handler failed has no end on record; only success forbids another run.
      if (ended && leaseMs === undefined && accepted.some(({ at }) => at < run.at)) {
        found.push(`${id}: run again after it had succeeded and been answered 2xx.`);
      }
      const overlaps = entries.some(
        ({ kind, fence, at }) => kind === 'success' && fence === before.fence && at > run.at,
      );
      // A hair less than the lease, since it began with the claim and not with the handler.
      if (overlaps && (leaseMs === undefined || (run.at - before.at) / 1e6 < leaseMs * 0.8)) {
        found.push(`${id}: two runs overlapped within a lease.`);
      }
    }
  }
  return found;
}
