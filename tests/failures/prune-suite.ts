import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { OwnClaim, Store } from '@factuarea-webhook/core';
import { prunePlan } from '@factuarea-webhook/core/store-kit';
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
const CLAIMS = 100;
const ROUNDS = 3;
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

    /** Claims and marks one id after the other, for as long as it is told to. Gives how many. */
    async function claiming(goesOn: (count: number) => boolean): Promise<number> {
      let count = 0;
      while (goesOn(count)) {
        expect(await (await own(`live-${claims++}`)).done()).toBe(true);
        count++;
        // A synchronous driver would let no message in.
        await new Promise(setImmediate);
      }
      return count;
    }

    test(`${PROCESSES} processes during claims: no deadlock, no live row removed, claims go on between the batches`, async () => {
      place = await create();
      const children = await Promise.all(Array.from({ length: PROCESSES }, () => startPruner(rig, place.settings)));
      try {
        await claiming((count) => count < CLAIMS);
        for (let round = 0; round < ROUNDS; round++) {
          await place.fill(old);
          const held = serial ? undefined : await own(`held-${helds++}`);
          let goesOn = true;
          const pruned = Promise.all(children.map(prune)).finally(() => {
            goesOn = false;
          });
          const count = await claiming(() => goesOn);
          const counts = await pruned;
          expect(counts.filter(({ error }) => error !== undefined)).toEqual([]);
          expect(counts.reduce((sum, { deleted = 0 }) => sum + deleted, 0)).toBe(old);
          // How long one takes is measured in the bench. Here: a pruning lets claims in, rather than working on.
          expect(count).toBeGreaterThan(old / prunePlan().batchSize);
          if (held) expect(await held.done()).toBe(true);
        }

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
