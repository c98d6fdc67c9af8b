import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { breaches, readHistory } from './history.ts';
import { type Answered, type ReceiverProcess, startReceiver } from './receiver-process.ts';
import type { Plan, Point, ReceiverConfig } from './rig.ts';

/** An empty place for one test. */
export interface Place {
  /** Handed to the rig's `open`, in each process. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** How often each id's effect is there. */
  effects(): Promise<ReadonlyMap<string, number>>;
  close(): Promise<unknown>;
}

/** A store that is put through what happens to processes. */
export interface ProcessSubject {
  readonly name: string;
  /** Absolute path of the rig's module. */
  readonly rig: string;
  readonly transactional: boolean;
  /** Whether claims take turns, so that a copy may wait for the run before it instead of being told busy. */
  readonly serial?: boolean;
  /** How many ids the race is run with. Default 200. */
  readonly raceIds?: number;
  create(): Promise<Place>;
}

const LEASE_MS = 800;
// Processes start slowly where much else runs.
const TEST_MS = 60_000;
const points: readonly Point[] = [
  'before-claim',
  'after-claim',
  'mid-handler',
  'after-effect',
  'after-mark',
  'before-response',
];

/** Defines the tests of what happens to processes: races, kills, stops, blocked loops, handlers that never end. */
export function processSuite({ name, rig, transactional, serial, raceIds = 200, create }: ProcessSubject): void {
  describe(`processes: ${name}`, () => {
    let place: Place;
    let folder: string;
    let history: string;
    const running: ReceiverProcess[] = [];

    beforeEach(async () => {
      place = await create();
      folder = mkdtempSync(join(tmpdir(), 'factuarea-webhook-history-'));
      history = join(folder, 'history.jsonl');
    });

    afterEach(async () => {
      await Promise.all(running.splice(0).map((receiver) => receiver.stop()));
      await place.close();
      rmSync(folder, { recursive: true });
    });

    async function start(more: Partial<ReceiverConfig> = {}): Promise<ReceiverProcess> {
      const { options, ...config } = more;
      const receiver = await startReceiver({
        rig,
        settings: place.settings,
        history,
        secret: 'whsec_of_the_failure_tests',
        leaseMs: LEASE_MS,
        options: { cache: false, ...options },
        ...config,
      });
      running.push(receiver);
      return receiver;
    }

    /** Sends copies until one is answered 200, as the sender's calendar would; gives what came before it. */
    async function until200(receiver: ReceiverProcess, id: string, plan?: Plan): Promise<Answered[]> {
      const before: Answered[] = [];
      for (const end = Date.now() + 15_000; Date.now() < end; ) {
        const answered = await receiver.deliver(id, plan);
        if (answered.status === 200) return before;
        before.push(answered);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error(`${id} was never answered 200: ${JSON.stringify(before.at(-1))}`);
    }

    /** How many runs of the handler have begun, in any process. */
    function started(): number {
      return readHistory(history).filter(({ kind }) => kind === 'start').length;
    }

    async function check(): Promise<ReadonlyMap<string, number>> {
      const effects = await place.effects();
      expect(breaches(readHistory(history), { effects, ...(!transactional && { leaseMs: LEASE_MS }) })).toEqual([]);
      return effects;
    }

    test(
      '200 ids with 50 copies each from 2 processes: one effect each, others 503 or 200, retries 200',
      async () => {
        // No lease may run out here, however slow the machine is.
        const two = await Promise.all([start({ leaseMs: 60_000 }), start({ leaseMs: 60_000 })]);
        const ids = Array.from({ length: raceIds }, (_, at) => `race-${at}`);
        const statuses = new Map<number, number>();
        for (let from = 0; from < ids.length; from += 4) {
          const copies = ids.slice(from, from + 4).flatMap((id) => Array.from({ length: 50 }, (_, at) => ({ id, at })));
          const answers = await Promise.all(copies.map(({ id, at }) => two[at % 2]?.deliver(id) as Promise<Answered>));
          for (const { status, retryAfter } of answers) {
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
            if (status === 503) expect(Number(retryAfter)).toBeGreaterThan(0);
          }
        }
        expect([...statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([]);
        for (const id of ids) for (const receiver of two) expect((await receiver.deliver(id)).status).toBe(200);
        const effects = await check();
        expect(effects.size).toBe(raceIds);
        expect(new Set(effects.values())).toEqual(new Set([1]));
      },
      2 * TEST_MS,
    );

    test.each(points)(
      'killed %s: the event is handled by a retry, and never lost',
      async (point) => {
        const [killed, next] = await Promise.all([start({ holdAt: point }), start()]);
        const cut = killed.deliver('event');
        await killed.reached;
        const marked = point === 'after-mark' || point === 'before-response';
        if (!marked && point !== 'before-claim') {
          expect(await next.deliver('event')).toMatchObject({ status: 503, code: 'in_progress' });
        }
        await killed.signal('SIGKILL');
        expect(await cut).toMatchObject({ status: 0 });
        const before = await until200(next, 'event');
        expect(before.every(({ status, code }) => status === 503 && code === 'in_progress')).toBe(true);
        // What was marked, or never begun, is in nobody's way.
        if (marked || point === 'before-claim') expect(before).toEqual([]);
        expect((await next.deliver('event')).status).toBe(200);
        const effects = await check();
        // A lease cannot take back an effect whose mark never came.
        expect(effects.get('event')).toBe(!transactional && point === 'after-effect' ? 2 : 1);
      },
      TEST_MS,
    );

    test(
      'a process that is stopped mid-handler and wakes up late settles nothing that is not its own',
      async () => {
        const [stopped, other] = await Promise.all([start({ holdAt: 'mid-handler' }), start()]);
        const late = stopped.deliver('event', { failTimes: 1 });
        await stopped.reached;
        await stopped.signal('SIGSTOP');
        if (transactional) {
          // Its transaction is still open, so nobody else may begin.
          await new Promise((resolve) => setTimeout(resolve, 1.5 * LEASE_MS));
          expect(await other.deliver('event')).toMatchObject({ status: 503, code: 'in_progress' });
          await stopped.signal('SIGCONT');
          expect(await late).toMatchObject({ status: 500, code: 'handler_failed' });
          await until200(other, 'event');
        } else {
          const taken = until200(other, 'event', { waitMs: 1000 });
          while (started() < 2) await new Promise((resolve) => setTimeout(resolve, 10));
          await stopped.signal('SIGCONT');
          // It fails, and gives back what it no longer holds.
          expect(await late).toMatchObject({ status: 500, code: 'handler_failed' });
          expect(await other.deliver('event')).toMatchObject({ status: 503, code: 'in_progress' });
          await taken;
        }
        expect((await other.deliver('event')).code).toBe('repeat');
        await check();
      },
      TEST_MS,
    );

    test(
      'an event loop that is blocked for two leases',
      async () => {
        const [blocked, other] = await Promise.all([start(), start()]);
        const late = blocked.deliver('event', { blockMs: 2 * LEASE_MS });
        while (started() < 1) await new Promise((resolve) => setTimeout(resolve, 10));
        const before = await until200(other, 'event');
        if (!serial) expect(before.length).toBeGreaterThan(0);
        expect(before.every(({ status, code }) => status === 503 && code === 'in_progress')).toBe(true);
        expect((await late).status).toBe(200);
        const effects = await check();
        expect(effects.get('event')).toBe(transactional ? 1 : 2);
      },
      TEST_MS,
    );

    test(
      'a handler that never ends is answered in time, and what it did in a transaction is undone',
      async () => {
        const [hung, other] = await Promise.all([
          start({ options: { timeoutSeconds: 1, handlerLimitSeconds: 1 } }),
          start(),
        ]);
        const answered = await hung.deliver('event', { never: true });
        expect(answered).toMatchObject({ status: 503, code: 'deadline_exceeded' });
        expect(answered.ms).toBeLessThan(1000);
        await until200(other, 'event');
        const effects = await check();
        expect(effects.get('event')).toBe(transactional ? 1 : 2);
      },
      TEST_MS,
    );

    test(
      'clocks an hour behind, an hour ahead, and stepping to and fro, change nothing',
      async () => {
        const hour = 3_600_000;
        const three = await Promise.all(
          [[-hour], [hour], [-hour, hour]].map((clockOffsetsMs) => start({ clockOffsetsMs, leaseMs: 60_000 })),
        );
        const ids = Array.from({ length: 10 }, (_, at) => `event-${at}`);
        const copies = ids.flatMap((id) =>
          three.map((receiver) => until200(receiver, id, { waitMs: 5, failTimes: 1 })),
        );
        for (const before of await Promise.all(copies)) {
          expect(before.filter(({ status }) => status !== 500 && status !== 503)).toEqual([]);
        }
        for (const receiver of three) for (const id of ids) expect((await receiver.deliver(id)).code).toBe('repeat');
        const effects = await check();
        // Without a transaction, the effect of a run that failed stands.
        if (transactional) expect([...effects.values()]).toEqual(Array(10).fill(1));
      },
      TEST_MS,
    );
  });
}
