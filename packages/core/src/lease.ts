import type { Settings } from './options.ts';
import { within } from './time.ts';
import type { OwnClaim } from './types.ts';

/**
 * Extends a claim every third of its lease until told to stop. Calls `lost` once: when the store says that the claim
 * is another's, or when the lease has run out unextended by the local monotonic clock.
 */
export function keepLease<Tx>(
  claim: OwnClaim<Tx>,
  { leaseMs, storeTimeoutMs }: Pick<Settings<Tx>, 'leaseMs' | 'storeTimeoutMs'>,
  claimedAt: number,
  lost: () => void,
): () => void {
  if (!claim.extend) return () => {};
  let stopped = false;
  // Counted from before the question was sent, so that it never ends later than the store's own lease.
  let endsAt = claimedAt + leaseMs;
  let end: ReturnType<typeof setTimeout> | undefined;
  let next = setTimeout(extend, leaseMs / 3);

  function stop(): void {
    stopped = true;
    clearTimeout(end);
    clearTimeout(next);
  }

  function lose(): void {
    stop();
    lost();
  }

  async function extend(): Promise<void> {
    const askedAt = performance.now();
    // Only now, since nearly every handler has ended long before.
    end ??= setTimeout(lose, endsAt - askedAt);
    let held: boolean | undefined;
    try {
      held = await within((async () => claim.extend?.(leaseMs))(), Math.min(storeTimeoutMs, leaseMs / 3), () => null);
    } catch {
      // Not known: the lease may still hold, so it is tried again until it has run out.
    }
    if (stopped) return;
    if (held === false) return lose();
    if (held) {
      clearTimeout(end);
      end = undefined;
      endsAt = askedAt + leaseMs;
    }
    next = setTimeout(extend, held ? leaseMs / 3 : leaseMs / 10);
  }

  return stop;
}
