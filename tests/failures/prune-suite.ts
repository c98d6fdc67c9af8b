import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { OwnClaim, Store } from '@factuarea-webhook/core';
import { describe, expect, test } from '@jest/globals';
import type { Pruned } from './prune-main.ts';

/** An empty place for one test. */
export interface PrunePlace {
  /** Handed to the rig's `open`, in each process that prunes. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The store that claims meanwhile. */
  readonly store: Store<unknown>;
  /** Adds so many ids that were done 100 days ago. None of an earlier round is there any more. */
  fill(count: number): Promise<unknown>;
  /** How many ids are kept. */
  count(): Promise<number>;
  close(): Promise<unknown>;
}

/** A store whose prunings are put beside its claims. */
export interface PruneSubject {
  readonly name: string;
  /** Absolute path of the rig's module. */
  readonly rig: string;
  /** Whether claims take turns, so that none can be held while others go on. */
  readonly serial?: boolean;
  /** How many old ids there are in each round. Default 10 000. */
  readonly old?: number;
  create(): Promise<PrunePlace>;
}

const PROCESSES = 4;
const CLAIMS = 300;
const ROUNDS = { least: 3, most: 12 };
const lifetimes = { leaseMs: 60_000, retentionMs: 90 * 86_400_000 };

/** Defines the test of pruning from four processes while claims go on. */
export function pruneSuite({ name, rig, serial = false, old = 10_000, create }: PruneSubject): void {
  describe(`pruning: ${name}`, () => {
    let place: PrunePlace;
    let claims = 0;
    let helds = 0;

    async function own(id: string): Promise<OwnClaim<unknown>> {
      const claim = await place.store.claim(id, lifetimes);
      if (claim.state !== 'mine') throw new Error(`The claim of ${id} was answered ${claim.state}.`);
      return claim;
    }

    /** Claims and marks one id after the other, for as long as it is told to. Gives milliseconds. */
    async function claiming(goesOn: (count: number) => boolean): Promise<number[]> {
      const times: number[] = [];
      while (goesOn(times.length)) {
        const startedAt = performance.now();
        expect(await (await own(`live-${claims++}`)).done()).toBe(true);
        times.push(performance.now() - startedAt);
        // A synchronous driver would let no message in.
        await new Promise(setImmediate);
      }
      return times;
    }

    test(`${PROCESSES} processes during claims: no deadlock, no live row removed, p99 of claims at most doubled`, async () => {
      place = await create();
      const children = await Promise.all(Array.from({ length: PROCESSES }, () => startPruner(rig, place.settings)));
      try {
        const quiet: number[] = [];
        const pruning: number[] = [];
        const ratio = (): number => p99(pruning) / p99(quiet);
        await claiming((count) => count < CLAIMS);
        // In turns, so that what else the machine does meets both alike. Where it does much, more rounds tell better.
        for (let round = 0; round < ROUNDS.least || (round < ROUNDS.most && ratio() > 2); round++) {
          await place.fill(old);
          const held = serial ? undefined : await own(`held-${helds++}`);
          quiet.push(...(await claiming((count) => count < CLAIMS)));
          let goesOn = true;
          const pruned = Promise.all(children.map(prune)).finally(() => {
            goesOn = false;
          });
          pruning.push(...(await claiming(() => goesOn)));
          const counts = await pruned;
          expect(counts.filter(({ error }) => error !== undefined)).toEqual([]);
          expect(counts.reduce((sum, { deleted = 0 }) => sum + deleted, 0)).toBe(old);
          if (held) expect(await held.done()).toBe(true);
        }

        expect(ratio()).toBeLessThanOrEqual(2);
        // Nothing but the old has gone.
        expect(await place.count()).toBe(claims + helds);
        for (const id of ['live-0', `live-${claims - 1}`]) {
          expect(await place.store.claim(id, lifetimes)).toEqual({ state: 'done' });
        }
      } finally {
        await Promise.all(children.map(stop));
        await place.close();
      }
    }, 120_000);
  });
}

async function startPruner(rig: string, settings: unknown): Promise<ChildProcess> {
  const given = [join(__dirname, 'prune-main.ts'), JSON.stringify({ rig, settings })];
  const child = fork(join(__dirname, 'register.cjs'), given);
  await answer(child);
  return child;
}

async function prune(child: ChildProcess): Promise<Pruned> {
  child.send('prune');
  return (await answer(child)) as Pruned;
}

async function answer(child: ChildProcess): Promise<unknown> {
  const over = new AbortController();
  const gone = once(child, 'exit', over).then(() => {
    throw new Error('A process that prunes has ended; its error is above.');
  });
  try {
    return (await Promise.race([once(child, 'message', over), gone]))[0];
  } finally {
    over.abort();
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.disconnect();
  await gone;
}

function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}
