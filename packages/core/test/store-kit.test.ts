import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  eventIdOf,
  inBatches,
  newToken,
  prunePlan,
  quoteName,
  retentionSeen,
  schedulePrune,
  splitName,
} from '../src/store-kit.ts';

const DAY_MS = 86_400_000;

describe('schedulePrune', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test('prunes once in every interval, at moments that differ from process to process', async () => {
    const firstAt = new Set<number>();
    for (let process = 0; process < 20; process++) {
      const at: number[] = [];
      const start = Date.now();
      const stop = schedulePrune(async () => at.push(Date.now() - start), { every: 100 });
      await jest.advanceTimersByTimeAsync(1000_000);
      await stop();
      expect(at.length).toBeGreaterThanOrEqual(9);
      expect(at.length).toBeLessThanOrEqual(12);
      at.reduce((earlier, later) => {
        expect(later - earlier).toBeGreaterThanOrEqual(90_000);
        expect(later - earlier).toBeLessThanOrEqual(110_000);
        return later;
      });
      expect(at[0]).toBeLessThanOrEqual(100_000);
      firstAt.add(at[0] as number);
    }
    expect(firstAt.size).toBeGreaterThan(10);
  });

  test('goes on after a failure and reports it', async () => {
    const errors: unknown[] = [];
    let calls = 0;
    const failure = new Error('gone');
    const stop = schedulePrune(
      async () => {
        calls++;
        throw failure;
      },
      {
        every: 10,
        onError: (error) => {
          errors.push(error);
          throw error;
        },
      },
    );
    await jest.advanceTimersByTimeAsync(60_000);
    await stop();
    expect(calls).toBeGreaterThan(3);
    expect(errors).toEqual(Array(calls).fill(failure));
  });

  test('stop waits for the pruning under way and lets none follow', async () => {
    let calls = 0;
    let end = (): void => {};
    const stop = schedulePrune(
      () => {
        calls++;
        return new Promise<void>((resolve) => {
          end = resolve;
        });
      },
      { every: 10 },
    );
    await jest.advanceTimersByTimeAsync(10_000);
    expect(calls).toBe(1);
    let stopped = false;
    const stopping = stop().then(() => {
      stopped = true;
    });
    await jest.advanceTimersByTimeAsync(1000);
    expect(stopped).toBe(false);
    end();
    await stopping;
    await jest.advanceTimersByTimeAsync(100_000);
    expect(calls).toBe(1);
  });

  test.each([0, -1, 604_801, Number.NaN])('refuses to prune every %p seconds', (every) => {
    expect(() => schedulePrune(async () => {}, { every })).toThrow(expect.objectContaining({ code: 'config_error' }));
  });
});

test('a schedule does not keep a process alive', () => {
  const unref = jest.spyOn(globalThis, 'setTimeout');
  const stop = schedulePrune(async () => {});
  const timer = unref.mock.results[0]?.value as NodeJS.Timeout;
  expect(timer.hasRef()).toBe(false);
  unref.mockRestore();
  return stop();
});

test.each([
  ['every of 0', { every: 0 }, '`every`'],
  ['every as a text', { every: '60' }, '`every`'],
  ['every without end', { every: Number.POSITIVE_INFINITY }, '`every`'],
  ['no batch', { batchSize: 0 }, '`batchSize`'],
  ['a misspelt option', { evry: 60 }, '`evry`'],
  ['a number instead of options', 60, 'every'],
  ['null instead of options', null, 'every'],
])('a schedule with %s is refused', (_what, options, name) => {
  const refusal = expect.objectContaining({ code: 'config_error', message: expect.stringContaining(name) });
  expect(() => schedulePrune(async () => {}, options as object)).toThrow(refusal);
});

test('a prune plan takes a date or an age, and a batch', () => {
  expect(() => prunePlan({ olderthan: new Date() } as object)).toThrow(
    expect.objectContaining({ code: 'config_error', message: expect.stringContaining('`olderthan`') }),
  );
  expect(prunePlan()).toEqual({ before: undefined, ageMs: 90 * DAY_MS, batchSize: 500 });
  expect(prunePlan({ olderThan: new Date(1_767_225_600_000), batchSize: 7 }, DAY_MS)).toEqual({
    before: 1_767_225_600_000,
    ageMs: DAY_MS,
    batchSize: 7,
  });
  for (const batchSize of [0, 1.5, Number.NaN, 100_001]) {
    expect(() => prunePlan({ batchSize })).toThrow(expect.objectContaining({ code: 'config_error' }));
  }
  for (const olderThan of [new Date('never'), 1_767_225_600_000, '2026-01-01'] as Date[]) {
    expect(() => prunePlan({ olderThan })).toThrow(expect.objectContaining({ code: 'config_error' }));
  }
});

test('the longest retention seen is what a pruning keeps', () => {
  const seen = retentionSeen();
  expect(seen.ageMs).toBe(90 * DAY_MS);
  seen.note(7 * DAY_MS);
  expect(seen.ageMs).toBe(7 * DAY_MS);
  seen.note(365 * DAY_MS);
  seen.note(30 * DAY_MS);
  expect(seen.ageMs).toBe(365 * DAY_MS);
});

test('batches are deleted until one comes back short', async () => {
  let left = 25;
  const sizes: number[] = [];
  const total = await inBatches(
    async () => {
      const size = Math.min(left, 10);
      left -= size;
      sizes.push(size);
      return size;
    },
    prunePlan({ batchSize: 10 }),
  );
  expect(total).toBe(25);
  expect(sizes).toEqual([10, 10, 5]);
});

test.each([
  { tookMs: 10, pauseMs: 190 },
  { tookMs: 400, pauseMs: 1000 },
])('after a batch of $tookMs ms comes a pause of about $pauseMs ms', async ({ tookMs, pauseMs }) => {
  jest.useFakeTimers();
  try {
    const pauses: number[] = [];
    let endedAt: number | undefined;
    const pruning = inBatches(
      async () => {
        if (endedAt !== undefined) pauses.push(performance.now() - endedAt);
        jest.advanceTimersByTime(tookMs);
        endedAt = performance.now();
        return pauses.length < 30 ? 10 : 0;
      },
      prunePlan({ batchSize: 10 }),
    );
    await jest.advanceTimersByTimeAsync(100_000);
    expect(await pruning).toBe(300);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(0.74 * pauseMs);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1.26 * pauseMs);
    expect(new Set(pauses).size).toBeGreaterThan(10);
  } finally {
    jest.useRealTimers();
  }
});

test('names are one or two parts, and are quoted', () => {
  expect(quoteName(splitName('table', 'app.webhook_events'))).toBe('"app"."webhook_events"');
  expect(quoteName(splitName('table', 'rechnungsereignisse_ä'), '`')).toBe('`rechnungsereignisse_ä`');
  for (const name of ['', 'a.b.c', 'a.', '1a', 'a"b', 'a b', "a'; DROP TABLE x", 'x'.repeat(64), undefined, 7]) {
    expect(() => splitName('table', name)).toThrow(expect.objectContaining({ code: 'config_error' }));
  }
});

test('an id to forget is a text', () => {
  expect(eventIdOf('0199')).toBe('0199');
  for (const id of [undefined, null, 5, '', {}, ['0199']]) {
    expect(() => eventIdOf(id as string)).toThrow(expect.objectContaining({ code: 'config_error' }));
  }
});

test('tokens differ', () => {
  expect(new Set(Array.from({ length: 100 }, newToken)).size).toBe(100);
});
