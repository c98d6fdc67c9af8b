import { afterEach, beforeEach, expect, jest } from '@jest/globals';
import { createReceiver, type Outcome, type Outgoing, type ReceiverOptions, type Route } from '../src/index.ts';
import {
  codeOf,
  delivery,
  keepingLogger,
  type Line,
  NOW,
  SECRET,
  type TestRequest,
  type WatchedStore,
  watchedStore,
} from './support.ts';

// At the sender's limit of 10 s: an answer at 9 s at the latest, a lease of 20 s that is extended every 6⅔ s, 2 s for a
// call to the store, 120 s for a handler.
export const body = '{"id":"one","type":"invoice.sent"}';
export const never: Promise<never> = new Promise(() => {});

/** Puts every test of the file on a clock of its own, and sees to it that whatever was started has been stopped. */
export function useClock(): void {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });
}

export const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

/** A delivery on its way, and its answer once there is one. */
export interface Sent {
  answer: Outgoing | undefined;
  readonly request: TestRequest;
}

export interface Clocked {
  readonly send: (route?: Route, incoming?: TestRequest) => Promise<Sent>;
  readonly store: WatchedStore;
  readonly logger: { readonly lines: Line[] };
  readonly outcomes: Outcome[];
}

export function setUp(options: ReceiverOptions = {}, store: WatchedStore = watchedStore()): Clocked {
  const logger = keepingLogger();
  const outcomes: Outcome[] = [];
  const receiver = createReceiver({
    secret: SECRET,
    store,
    logger,
    nowSeconds: () => NOW,
    onOutcome: (outcome) => outcomes.push(outcome),
    ...options,
  });
  return {
    store,
    logger,
    outcomes,
    async send(route, incoming) {
      const sent: Sent = { answer: undefined, request: incoming ?? (await delivery(body)) };
      receiver.receive(sent.request, route).then((answer) => {
        sent.answer = answer;
      });
      await pass(0);
      return sent;
    },
  };
}

export const codes = (...sent: Sent[]): (string | undefined)[] => sent.map(({ answer }) => answer && codeOf(answer));
