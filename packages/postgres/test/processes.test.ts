import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postgresStore } from '@factuarea-webhook/postgres';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Pool } from 'pg';
import { breaches, readHistory } from '../../../tests/failures/history.ts';
import { type Answered, type ReceiverProcess, startReceiver } from '../../../tests/failures/receiver-process.ts';
import type { Plan, Point, ReceiverConfig } from '../../../tests/failures/rig.ts';
import { effectsTable, type Place, place, url } from './support.ts';

// A hundredth of the times that the receiver and the sender have: the lease, and the wait before the first retry.
const LEASE_MS = 200;
const RETRY_MS = 600;

const points: readonly Point[] = [
  'before-claim',
  'after-claim',
  'mid-handler',
  'after-effect',
  'after-mark',
  'before-response',
];

let here: Place;
let pool: Pool;
let folder: string;

beforeAll(async () => {
  here = await place();
  pool = here.pool();
  await pool.query(effectsTable);
  for (const mode of ['transaction', 'lease'] as const) await postgresStore(pool, { mode }).migrate();
  folder = await mkdtemp(join(tmpdir(), 'factuarea-webhook-failures-'));
});
afterAll(async () => {
  await here.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs `body` with receivers in processes of their own, and then checks what was written down. */
async function play(
  name: string,
  mode: 'transaction' | 'lease',
  body: (start: (more?: Partial<ReceiverConfig>) => Promise<ReceiverProcess>) => Promise<void>,
  leaseMs: number = LEASE_MS,
): Promise<void> {
  const history = join(folder, name);
  const started: ReceiverProcess[] = [];
  const config: ReceiverConfig = {
    rig: join(__dirname, 'rig.ts'),
    settings: { url, schema: here.schema, mode },
    history,
    secret: 'whsec_7Qm2Zr9tLk4XvB1nAe6H',
    ...(mode === 'lease' && { leaseMs }),
  };
  try {
    await body(async (more) => {
      const receiver = await startReceiver({ ...config, ...more });
      started.push(receiver);
      return receiver;
    });
  } finally {
    await Promise.all(started.map((receiver) => receiver.stop()));
  }
  const { rows } = await pool.query('SELECT id, count(*)::int AS count FROM effects GROUP BY id');
  const effects = new Map<string, number>(rows.map(({ id, count }) => [id, count]));
  expect(breaches(readHistory(history), { effects, ...(mode === 'lease' && { leaseMs }) })).toEqual([]);
}

async function effectsOf(id: string): Promise<number> {
  const { rows } = await pool.query('SELECT count(*)::int AS count FROM effects WHERE id = $1', [id]);
  return rows[0].count;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Delivers until the answer is 2xx; everything before has to be retryable. */
async function resend(receiver: ReceiverProcess, id: string, plan?: Plan, waitMs = 20): Promise<Answered> {
  for (let attempt = 0; attempt < 500; attempt++) {
    const answer = await receiver.deliver(id, plan);
    if (answer.status === 200) return answer;
    expect([500, 503]).toContain(answer.status);
    await pause(waitMs);
  }
  throw new Error(`${id} was never answered 2xx.`);
}

describe.each(['transaction', 'lease'] as const)('processes, mode %s', (mode) => {
  test(
    '200 ids with 50 copies each, at two processes: one effect each, and every copy ends in a 2xx',
    () =>
      play(
        `storm-${mode}`,
        mode,
        async (start) => {
          const receivers = await Promise.all([start(), start()]);
          const ids = Array.from({ length: 200 }, (_, at) => `storm-${mode}-${at}`);
          // Copies of one event close together, as they come.
          const copies = ids.flatMap((id) => Array.from({ length: 50 }, (_, copy) => ({ id, copy })));
          let next = 0;
          const sender = async (): Promise<void> => {
            for (let at = next++; at < copies.length; at = next++) {
              const { id, copy } = copies[at] as { id: string; copy: number };
              const receiver = receivers[copy % 2] as ReceiverProcess;
              const answer = await receiver.deliver(id);
              expect([200, 503]).toContain(answer.status);
              if (answer.status === 503) expect(answer.code).toBe('in_progress');
              if (answer.status === 503) await resend(receiver, id);
            }
          };
          await Promise.all(Array.from({ length: 60 }, sender));
          const { rows } = await pool.query(
            'SELECT count(*)::int AS rows, count(DISTINCT id)::int AS ids FROM effects WHERE id LIKE $1',
            [`storm-${mode}-%`],
          );
          expect(rows).toEqual([{ rows: 200, ids: 200 }]);
        },
        20_000,
      ),
    120_000,
  );

  test(
    'killed at every point of the way: the sender’s first retry finds it handled or handles it',
    () =>
      play(`kill-${mode}`, mode, async (start) => {
        const survivor = await start();
        await Promise.all(
          points.map(async (point) => {
            const id = `kill-${mode}-${point}`;
            const victim = await start({ holdAt: point });
            const cut = victim.deliver(id);
            expect((await victim.reached).point).toBe(point);
            await victim.signal('SIGKILL');
            expect(await cut).toMatchObject({ status: 0 });
            await pause(RETRY_MS);
            const marked = point === 'after-mark' || point === 'before-response';
            expect(await survivor.deliver(id)).toMatchObject({ status: 200, code: marked ? 'repeat' : 'handled' });
            // Without a transaction an effect stands although nobody could say so: the event is handled again.
            expect(await effectsOf(id)).toBe(mode === 'lease' && point === 'after-effect' ? 2 : 1);
          }),
        );
      }),
    60_000,
  );

  test(
    'a blocked event loop, for three leases',
    () =>
      play(`blocked-${mode}`, mode, async (start) => {
        const [blocked, other] = await Promise.all([start(), start()]);
        const id = `blocked-${mode}`;
        const first = blocked.deliver(id, { blockMs: 3 * LEASE_MS });
        await pause(LEASE_MS * 1.5);
        const meanwhile = await other.deliver(id);
        // A transaction holds for as long as its connection does.
        if (mode === 'transaction') expect(meanwhile).toMatchObject({ status: 503, code: 'in_progress' });
        else expect(meanwhile).toMatchObject({ status: 200, code: 'handled' });
        expect(await first).toMatchObject({ status: 200 });
        expect(await resend(other, id)).toMatchObject({ code: 'repeat' });
        expect(await effectsOf(id)).toBe(mode === 'transaction' ? 1 : 2);
      }),
    30_000,
  );

  test(
    'stopped in the handler, and woken after another process has handled the event',
    () =>
      play(`stopped-${mode}`, mode, async (start) => {
        const [sleeper, other] = await Promise.all([start({ holdAt: 'mid-handler' }), start()]);
        const id = `stopped-${mode}`;
        const first = sleeper.deliver(id);
        await sleeper.reached;
        await sleeper.signal('SIGSTOP');
        await pause(LEASE_MS * 1.5);
        const meanwhile = await other.deliver(id);
        if (mode === 'transaction') expect(meanwhile).toMatchObject({ status: 503, code: 'in_progress' });
        else expect(meanwhile).toMatchObject({ status: 200, code: 'handled' });
        await sleeper.signal('SIGCONT');
        const late = await first;
        // The old owner's mark changes nothing, and it says that the effect may have happened twice.
        expect(late).toMatchObject({ status: 200, code: mode === 'transaction' ? 'handled' : 'handled_unrecorded' });
        expect(await resend(other, id)).toMatchObject({ code: 'repeat' });
      }),
    30_000,
  );

  test(
    'clocks an hour behind, an hour ahead, and stepping to and fro',
    () =>
      play(
        `clocks-${mode}`,
        mode,
        async (start) => {
          const hour = 3_600_000;
          const receivers = await Promise.all(
            [[-hour], [hour], [-hour, hour]].map((clockOffsetsMs) => start({ clockOffsetsMs })),
          );
          await Promise.all(
            Array.from({ length: 60 }, (_, at) =>
              resend(receivers[at % 3] as ReceiverProcess, `clocks-${mode}-${at % 10}`, {
                failTimes: at % 2,
                waitMs: 5,
              }),
            ),
          );
          for (let at = 0; at < 10; at++) {
            // A run that fails has its effect undone by the transaction, and by nothing else.
            if (mode === 'transaction') expect(await effectsOf(`clocks-${mode}-${at}`)).toBe(1);
            expect(await receivers[0]?.deliver(`clocks-${mode}-${at}`)).toMatchObject({ code: 'repeat' });
          }
        },
        20_000,
      ),
    60_000,
  );
});
