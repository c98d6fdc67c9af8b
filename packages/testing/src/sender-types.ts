import type { Clock } from './clock.ts';
import type { DeliveryAttempt } from './deliver.ts';
import type { FactuareaDelivery } from './delivery.ts';
import type { Transport } from './transport.ts';

/** Where a delivery stands. A suspended endpoint's are `pending` until it is resumed. */
export type DeliveryState = 'pending' | 'delivered' | 'failed_permanently';

/** An endpoint as it is set up at Factuarea. */
export interface SenderEndpoint {
  readonly url: string;
  /** The secret, or the new and the previous one during a rotation. May be replaced while the sender runs. */
  secret: string | readonly string[];
  /** 1–30. Default 10. */
  readonly timeoutSeconds?: number;
}

/** Options of `FactuareaSender`. */
export interface SenderOptions<Name extends string = string> {
  /** By a name of your choice: `{ company: { url, secret }, account: { url, secret } }`. */
  readonly endpoints: { readonly [Endpoint in Name]: SenderEndpoint };
  /** What the waits are measured by. Default: the machine's clock. `fastClock` and `manualClock` give others. */
  readonly clock?: Clock;
  /** The waits before the second attempt and so on, in milliseconds. Default: Factuarea's seven, `retryCalendar`. */
  readonly calendar?: readonly number[];
  /** By how much each wait varies, either way, as a share of it. Default 0.1. */
  readonly jitter?: number;
  /** From 0 to 1. Default: `Math.random`. */
  readonly random?: () => number;
  /** `t` of each attempt, in Unix seconds. Default: the machine's clock, since it is the receiver's too. */
  readonly nowSeconds?: () => number;
  /** Default: `socketTransport()`. */
  readonly transport?: Transport;
  /** Attempts that may be on their way at the same moment. Default 50. */
  readonly concurrency?: number;
}

/** One attempt in an endpoint's delivery history. */
export interface HistoryEntry extends Omit<DeliveryAttempt, 'headers'> {
  readonly endpoint: string;
  readonly deliveryId: string;
  readonly eventId: string;
  readonly eventType: string;
  /** Counted from 1, and anew once the delivery is retried by hand. */
  readonly attempt: number;
  /** By the sender's clock. */
  readonly at: Date;
  /** At most 1024 characters of what was answered. */
  readonly body: string;
}

/** A delivery that the sender looks after. */
export interface SentDelivery {
  readonly endpoint: string;
  readonly delivery: FactuareaDelivery;
  readonly state: DeliveryState;
  readonly attempts: readonly HistoryEntry[];
  /** When the next attempt is due, by the sender's clock. */
  readonly nextAttemptAt: Date | undefined;
  /** Resolves once nothing more will be tried. */
  readonly finished: Promise<DeliveryState>;
}
