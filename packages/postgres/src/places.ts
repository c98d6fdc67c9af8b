import type { PgPool } from './client.ts';
import { storeUnavailable } from './failures.ts';

/** The places that claims may take in one pool, so that handlers find a connection free beside their own. */
export interface Places {
  /**
   * Gives the function that frees the place again. Rejects once no place at all has come free for `STALL_MS`, and after
   * `waitMs` in any case: a burst of short handlers passes through, and slow ones keep nobody waiting.
   */
  take(most: number, waitMs: number): Promise<() => void>;
}

const STALL_MS = 100;

const placesOfPools = new WeakMap<PgPool, Places>();

/** The places of a pool, which all stores on it share. */
export function placesOf(pool: PgPool): Places {
  const known = placesOfPools.get(pool);
  if (known) return known;
  const places = makePlaces();
  placesOfPools.set(pool, places);
  return places;
}

function makePlaces(): Places {
  let taken = 0;
  let movedAt = 0;
  const waiting = new Set<() => void>();

  function freeOnce(): () => void {
    let freed = false;
    return () => {
      if (freed) return;
      freed = true;
      movedAt = performance.now();
      const [next] = waiting;
      // Handed on as it is, so that nobody slips in between.
      if (next) next();
      else taken--;
    };
  }

  return {
    async take(most, waitMs) {
      if (taken < most) {
        taken++;
        return freeOnce();
      }
      const startedAt = performance.now();
      return new Promise((resolve, reject) => {
        const next = (): void => {
          clearTimeout(timer);
          waiting.delete(next);
          resolve(freeOnce());
        };
        const look = (): void => {
          const left = Math.min(Math.max(movedAt, startedAt) + STALL_MS, startedAt + waitMs) - performance.now();
          if (left > 0) {
            timer = setTimeout(look, Math.ceil(left));
            return;
          }
          waiting.delete(next);
          reject(
            storeUnavailable(
              `Running handlers hold all ${most} connections that claims may hold. Raise the pool’s \`max\`, or use mode 'lease'.`,
            ),
          );
        };
        let timer: ReturnType<typeof setTimeout>;
        waiting.add(next);
        look();
      });
    },
  };
}
