import { configError, FactuareaWebhookError } from './errors.ts';
import { oldestOf } from './oldest.ts';
import type { Claim, ClaimOptions, Store } from './types.ts';

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** How many ids are kept at most; the oldest done ones go first. Default 100 000 (about 20 MB). */
  readonly maxIds?: number;
}

/** A store in this process's memory. */
export interface MemoryStore extends Store<undefined> {
  claim(id: string, options: ClaimOptions): Promise<Claim<undefined>>;
  /** Forgets an id, so that its next delivery is handled again. True when it was known. */
  forget(id: string): Promise<boolean>;
  /** How many ids are held. */
  readonly size: number;
}

interface Lease {
  readonly fence: number;
  until: number;
}

/**
 * Keeps ids in this process's memory, until it restarts: for development, tests, and services that may handle an event
 * again after a restart.
 *
 * @throws `config_error` where `maxIds` is not a whole number above 0.
 * @example
 * ```ts
 * const receiver = createReceiver({ store: memoryStore(), handler: (event) => console.log(event.type) });
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { maxIds = 100_000 } = options;
  if (!Number.isSafeInteger(maxIds) || maxIds < 1) throw configError('`maxIds` must be a whole number above 0.');
  const leases = new Map<string, Lease>();
  // Maps keep the order of insertion, so the ids that were done first stand first.
  const done = new Map<string, number>();
  const oldest = oldestOf(done);
  let fences = 0;

  function makeRoom(now: number): void {
    for (let first = oldest(); first; first = oldest()) {
      const [id, until] = first;
      if (until > now && leases.size + done.size < maxIds) return;
      done.delete(id);
    }
    if (leases.size < maxIds) return;
    for (const [id, lease] of leases) if (lease.until <= now) leases.delete(id);
    if (leases.size < maxIds) return;
    throw new FactuareaWebhookError(
      'store_unavailable',
      `All ${maxIds} places of the memory store are held by running handlers. Raise \`maxIds\`, or use a durable store.`,
    );
  }

  async function claim(id: string, { leaseMs, retentionMs }: ClaimOptions): Promise<Claim<undefined>> {
    const now = performance.now();
    if ((done.get(id) ?? 0) > now) return { state: 'done' };
    const held = leases.get(id);
    if (held && held.until > now) return { state: 'busy', retryAfterMs: held.until - now };
    leases.delete(id);
    makeRoom(now);
    const lease: Lease = { fence: ++fences, until: now + leaseMs };
    leases.set(id, lease);
    const isOurs = (): boolean => leases.get(id) === lease;
    let marked = false;
    return {
      state: 'mine',
      tx: undefined,
      fence: lease.fence,
      async done() {
        if (isOurs()) {
          leases.delete(id);
          done.delete(id);
          done.set(id, performance.now() + retentionMs);
          marked = true;
        }
        return marked;
      },
      async release() {
        if (isOurs()) leases.delete(id);
      },
      async extend(ms) {
        if (!isOurs()) return false;
        lease.until = performance.now() + ms;
        return true;
      },
    };
  }

  return {
    claim,
    async forget(id) {
      return [leases.delete(id), done.delete(id)].includes(true);
    },
    get size() {
      return leases.size + done.size;
    },
  };
}
