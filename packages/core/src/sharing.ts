import type { BusyClaim, Claim, ClaimOptions } from './types.ts';

/** `Store.claim`. */
export type Ask<Tx> = (id: string, options: ClaimOptions) => Promise<Claim<Tx>>;

/** Copies of an event that come while its claim is being asked for share that one question, and its answer. */
export function sharing<Tx>(ask: Ask<Tx>): Ask<Tx> {
  const asked = new Map<string, Promise<Claim<Tx>>>();
  return async (id, options) => {
    const first = asked.get(id);
    if (first) {
      const claim = await first;
      return claim.state === 'mine' ? busy(options.leaseMs) : claim;
    }
    const asking = ask(id, options).finally(() => asked.delete(id));
    asked.set(id, asking);
    return asking;
  };
}

export function busy(retryAfterMs: number): BusyClaim {
  return { state: 'busy', retryAfterMs };
}
