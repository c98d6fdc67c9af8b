import type { Arrival, Capture } from './capture.ts';

const MOST_CAPTURES = 500;
const MOST_BYTES = 64 * 1024 * 1024;

/** The captured deliveries, the newest of them. The oldest go when there are too many, or too large ones. */
export interface History {
  readonly captures: readonly Capture[];
  nextNumber(): number;
  /** Adds a capture, or replaces the one of the same number; tells everyone who watches. */
  put(capture: Capture, arrival: Arrival): void;
  arrivalOf(number: number): Arrival | undefined;
  /** Calls `watcher` for every change until the returned function is called. */
  watch(watcher: (capture: Capture) => void): () => void;
}

export function makeHistory(): History {
  const kept: { capture: Capture; arrival: Arrival }[] = [];
  const watchers = new Set<(capture: Capture) => void>();
  let numbers = 0;
  let bytes = 0;
  return {
    get captures() {
      return kept.map(({ capture }) => capture);
    },
    nextNumber: () => ++numbers,
    put(capture, arrival) {
      const at = kept.findIndex((one) => one.capture.number === capture.number);
      if (at >= 0) kept[at] = { capture, arrival };
      // One that has been dropped while its app was asked stays dropped.
      else if (capture.answer === undefined) {
        kept.push({ capture, arrival });
        bytes += capture.bytes;
      }
      while (kept.length > MOST_CAPTURES || (bytes > MOST_BYTES && kept.length > 1)) {
        bytes -= kept.shift()?.capture.bytes ?? 0;
      }
      for (const watcher of watchers) watcher(capture);
    },
    arrivalOf: (number) => kept.find(({ capture }) => capture.number === number)?.arrival,
    watch(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}
