import type { SentDelivery } from '@factuarea-webhook/testing';

/** What became of a scenario. */
export interface Tally {
  readonly events: number;
  readonly deliveries: number;
  readonly attempts: number;
  /** How many attempts were answered with each status; `none` where no answer came. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Deliveries that ended in no 2xx: a final 4xx, or eight attempts in vain. */
  readonly failed: number;
  /** Ids of events of which no copy was delivered, or that the receiver's list does not hold. */
  readonly lost: readonly string[];
  /** Ids of events that the receiver's list holds more than once. Empty where it has no list. */
  readonly repeated: readonly string[];
}

/** Counts. `handled` is the receiver's own list, one entry per handler run. */
export function tally(sent: readonly SentDelivery[], handled: readonly string[] | undefined): Tally {
  const runs = new Map<string, number>();
  for (const id of handled ?? []) runs.set(id, (runs.get(id) ?? 0) + 1);
  const statuses: Record<string, number> = {};
  const delivered = new Set<string>();
  const ids = new Set<string>();
  let attempts = 0;
  for (const { delivery, state, attempts: made } of sent) {
    ids.add(delivery.event.id);
    if (state === 'delivered') delivered.add(delivery.event.id);
    attempts += made.length;
    for (const { status = 'none' } of made) statuses[status] = (statuses[status] ?? 0) + 1;
  }
  return {
    events: ids.size,
    deliveries: sent.length,
    attempts,
    statuses,
    failed: sent.filter(({ state }) => state !== 'delivered').length,
    lost: [...ids].filter((id) => !delivered.has(id) || (handled !== undefined && !runs.has(id))),
    repeated: [...ids].filter((id) => (runs.get(id) ?? 0) > 1),
  };
}
