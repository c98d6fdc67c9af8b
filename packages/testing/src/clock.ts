import { createClock } from '@sinonjs/fake-timers';

/** The parts of a clock that the sender uses: `globalThis` has them, and so has a clock of `@sinonjs/fake-timers`. */
export interface Clock {
  readonly Date: { now(): number };
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(timer: never): void;
}

/** A clock that stands still until it is told to go on. */
export interface ManualClock extends Clock {
  /** Goes on by this many milliseconds and runs what falls due on the way. */
  tickAsync(ms: number): Promise<unknown>;
}

/** The machine's own clock. Looked up at each call, so that timers which a test runner has replaced count too. */
export const realClock: Clock = {
  Date: { now: () => Date.now() },
  setTimeout: (callback, ms) => globalThis.setTimeout(callback, ms),
  clearTimeout: (timer) => globalThis.clearTimeout(timer),
};

/**
 * A clock on which waits pass so many times faster, and dates with them: at 3600, an hour takes a second.
 *
 * @example
 * ```ts
 * const sender = new FactuareaSender({ endpoints, clock: fastClock(3600) });
 * ```
 */
export function fastClock(times: number): Clock {
  const start = Date.now();
  const began = performance.now();
  return {
    Date: { now: () => start + (performance.now() - began) * times },
    setTimeout: (callback, ms) => globalThis.setTimeout(callback, ms / times),
    clearTimeout: (timer) => globalThis.clearTimeout(timer),
  };
}

/**
 * A clock that the test moves, by `sender.advance(ms)`.
 *
 * @param start Unix milliseconds. Default: now.
 * @example
 * ```ts
 * const sender = new FactuareaSender({ endpoints, clock: manualClock() });
 * sender.send('company', companyDelivery('invoice.sent'));
 * await sender.advance(60_000 * 1.1); // the first attempt and the first retry have been answered
 * ```
 */
export function manualClock(start: number = Date.now()): ManualClock {
  return createClock(start) as unknown as ManualClock;
}
