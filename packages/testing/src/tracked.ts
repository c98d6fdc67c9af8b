import { configError } from '@factuarea-webhook/core/store-kit';
import type { FactuareaDelivery } from './delivery.ts';
import type { DeliveryState, HistoryEntry, SentDelivery } from './sender-types.ts';

const BY_HAND_MS = 90 * 24 * 60 * 60_000;

/** A delivery as the sender keeps it. */
export interface Tracked extends SentDelivery {
  readonly attempts: HistoryEntry[];
  readonly sentAt: number;
  finish: (state: DeliveryState) => void;
  fail: (error: unknown) => void;
  state: DeliveryState;
  nextAttemptAt: Date | undefined;
  finished: Promise<DeliveryState>;
  /** Attempts since the delivery was made or re-armed. */
  tried: number;
  timer: unknown;
  /** Due, but the endpoint is suspended. */
  held: boolean;
}

/** A delivery that has not been tried yet. */
export function track(endpoint: string, delivery: FactuareaDelivery, sentAt: number): Tracked {
  return {
    endpoint,
    delivery,
    attempts: [],
    sentAt,
    state: 'pending',
    nextAttemptAt: undefined,
    ...openEnd(),
    tried: 0,
    timer: undefined,
    held: false,
  };
}

/** Makes the same delivery begin anew. */
export function rearm(tracked: Tracked): Tracked {
  return Object.assign(tracked, { ...openEnd(), state: 'pending' as const, tried: 0 });
}

/**
 * What a person may send again: a company endpoint's deliveries by a replay, an account endpoint's by a retry.
 *
 * @throws `config_error`.
 */
export function checkByHand(sent: SentDelivery, how: 'replay' | 'retry', now: number): void {
  const { endpoint } = sent.delivery;
  if (endpoint !== (how === 'replay' ? 'company' : 'account')) {
    const other = how === 'replay' ? 'retry' : 'replay';
    throw configError(`Deliveries of ${endpoint} endpoints have no ${how}: use \`${other}\`.`);
  }
  if (now - (sent as Tracked).sentAt > BY_HAND_MS) throw configError('After 90 days nothing is sent again.');
}

function openEnd(): Pick<Tracked, 'finished' | 'finish' | 'fail'> {
  let finish: Tracked['finish'] = () => {};
  let fail: Tracked['fail'] = () => {};
  const finished = new Promise<DeliveryState>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  return { finished, finish, fail };
}
