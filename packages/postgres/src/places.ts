import type { PgPool } from './client.ts';
import { storeUnavailable } from './failures.ts';

/** The places that claims may take in one pool, so that handlers find a connection free beside their own. */
export interface Places {
  /** Gives the function that frees the place again. Rejects where none comes free within `waitMs`. */
  take(most: number, waitMs: number): Promise<() => void>;
}

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
  const waiting = new Set<() => void>();

  function freeOnce(): () => void {
    let freed = false;
    return () => {
      if (freed) return;
      freed = true;
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
      return new Promise((resolve, reject) => {
        const next = (): void => {
          clearTimeout(timer);
          waiting.delete(next);
          resolve(freeOnce());
        };
        const timer = setTimeout(() => {
          waiting.delete(next);
          reject(
            storeUnavailable(
              `Running handlers hold all ${most} connections that claims may hold. Raise the pool’s \`max\`, or use mode 'lease'.`,
            ),
          );
        }, waitMs);
        waiting.add(next);
      });
    },
  };
}
