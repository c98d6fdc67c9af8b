import { companyDelivery } from './builders.ts';
import { type FactuareaDelivery, redelivery } from './delivery.ts';
import type { FactuareaSender } from './sender.ts';
import type { SentDelivery } from './sender-types.ts';

/** Options of `storm`. */
export interface StormOptions<Name extends string> {
  readonly endpoint: Name;
  /** How many events. */
  readonly events: number;
  /** How many deliveries of each event, all at once. Default 1. */
  readonly copies?: number;
  /** Makes the event of this number, from 0. Default: `invoice.sent`. */
  readonly make?: (index: number) => FactuareaDelivery;
}

/** What became of a storm. */
export interface StormResult {
  readonly deliveries: readonly SentDelivery[];
  readonly delivered: number;
  readonly failedPermanently: number;
  readonly attempts: number;
  /** How many attempts were answered with each status; `none` where no answer came. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly durationMs: number;
}

/**
 * Sends N events × M copies, as many at once as the sender's `concurrency` allows, and waits until nothing more will
 * be tried. The copies of one event go out together.
 *
 * @example
 * ```ts
 * const sender = new FactuareaSender({ endpoints, calendar: [50, 100, 200, 400], concurrency: 100 });
 * const { delivered, statuses } = await storm(sender, { endpoint: 'company', events: 200, copies: 50 });
 * ```
 */
export async function storm<Name extends string>(
  sender: FactuareaSender<Name>,
  { endpoint, events, copies = 1, make = () => companyDelivery('invoice.sent') }: StormOptions<Name>,
): Promise<StormResult> {
  const startedAt = performance.now();
  const deliveries = Array.from({ length: events }, (_, index) => make(index)).flatMap((delivery) =>
    Array.from({ length: copies }, (_, copy) => sender.send(endpoint, copy === 0 ? delivery : redelivery(delivery))),
  );
  const states = await Promise.all(deliveries.map(({ finished }) => finished));
  const statuses: Record<string, number> = {};
  const attempts = deliveries.flatMap((sent) => sent.attempts);
  for (const { status = 'none' } of attempts) statuses[status] = (statuses[status] ?? 0) + 1;
  return {
    deliveries,
    delivered: states.filter((state) => state === 'delivered').length,
    failedPermanently: states.filter((state) => state === 'failed_permanently').length,
    attempts: attempts.length,
    statuses,
    durationMs: performance.now() - startedAt,
  };
}
