import { FactuareaWebhookError } from './errors.ts';

/** The places that claims may take in one pool of connections, so that handlers find one free beside their own. */
export interface Places {
  /** Gives the function that frees the place again. Rejects with `store_unavailable` where none comes free in time. */
  take(most: number, waitMs: number): Promise<() => void>;
}

const placesOfPools = new WeakMap<object, Places>();

/** The places of a pool, which all stores on it share. */
export function placesOf(pool: object): Places {
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
            new FactuareaWebhookError(
              'store_unavailable',
              `Running handlers hold all ${most} connections that claims may hold. Enlarge the pool, or use mode 'lease'.`,
            ),
          );
        }, waitMs);
        waiting.add(next);
      });
    },
  };
}
