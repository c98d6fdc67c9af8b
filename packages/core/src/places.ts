import { FactuareaWebhookError } from './errors.ts';

/** One of the pool's connections that a claim may hold. */
export interface Place {
  /** The claim has been granted: from now on a handler has the place. */
  granted(): void;
  free(): void;
}

/** The places that claims may take in one pool of connections, so that handlers find one free beside their own. */
export interface Places {
  /**
   * Takes one of `most` places. Rejects once handlers have had all of them for `STALL_MS` and none has ended, and after
   * `waitMs` in any case: so a burst of short handlers passes through, and slow ones keep nobody waiting.
   */
  take(most: number, waitMs: number): Promise<Place>;
}

const STALL_MS = 100;

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
  let asking = 0;
  let movedAt = 0;
  const waiting = new Set<() => void>();

  function makePlace(): Place {
    let state: 'asking' | 'handling' | 'free' = 'asking';
    asking++;
    const leave = (next: 'handling' | 'free'): void => {
      if (state === 'asking') asking--;
      state = next;
      movedAt = performance.now();
    };
    return {
      granted: () => leave('handling'),
      free() {
        if (state === 'free') return;
        leave('free');
        const [next] = waiting;
        // Handed on as it is, so that nobody slips in between.
        if (next) next();
        else taken--;
      },
    };
  }

  return {
    async take(most, waitMs) {
      if (taken < most) {
        taken++;
        return makePlace();
      }
      const startedAt = performance.now();
      return new Promise((resolve, reject) => {
        const next = (): void => {
          clearTimeout(timer);
          waiting.delete(next);
          resolve(makePlace());
        };
        const look = (): void => {
          const now = performance.now();
          const stalledAt = (asking > 0 ? now : Math.max(movedAt, startedAt)) + STALL_MS;
          const left = Math.min(stalledAt, startedAt + waitMs) - now;
          if (left > 0) {
            timer = setTimeout(look, Math.ceil(left));
            return;
          }
          waiting.delete(next);
          reject(
            new FactuareaWebhookError(
              'store_unavailable',
              `Claims hold all ${most} connections that they may hold. Enlarge the pool, or use mode 'lease'.`,
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
