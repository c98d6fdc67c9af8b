import { type Claim, FactuareaWebhookError, memoryStore, type OwnClaim, type Store } from '@factuarea-webhook/core';

/** What the contract's store can be told to do wrong, by the beginning of the event's id: `store-claim_fails-…`. */
export type StoreFault =
  | 'claim_fails'
  | 'claim_hangs'
  | 'done_fails'
  | 'done_slow'
  | 'done_lost'
  | 'release_fails'
  | 'commit_fails'
  | 'commit_rolled_back';

/** One call that the receiver made to the store. */
export interface StoreCall {
  readonly id: string;
  readonly call: 'claim' | 'done' | 'release' | 'extend' | 'abandon';
  /** What came of it: a claim's state, `true` or `false`, or the code of what was thrown. Absent while it runs. */
  result?: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  endedAt?: number;
}

const SLOW_DONE_MS = 250;
// Longer than the contract's deadline, so that the answer must go out unrecorded, and shorter than the claim's lease.
const FAILING_DONE_MS = 1100;

/** The id of an event at which the contract's store does something wrong. */
export function faultyId(fault: StoreFault, id: string): string {
  return `store-${fault}-${id}`;
}

/** A memory store that writes every call down, and fails where an event's id asks for it. */
export function contractStore(calls: StoreCall[]): Store<unknown> {
  const memory = memoryStore();

  async function record<Value>(
    id: string,
    call: StoreCall['call'],
    work: () => Promise<Value>,
    name: (value: Value) => string = String,
  ): Promise<Value> {
    const entry: StoreCall = { id, call, startedAt: Date.now() };
    calls.push(entry);
    try {
      const value = await work();
      entry.result = name(value);
      return value;
    } catch (error) {
      entry.result = String((error as { code?: unknown }).code ?? error);
      throw error;
    } finally {
      entry.endedAt = Date.now();
    }
  }

  function faulty(id: string, own: OwnClaim, claimedAt: number): Claim<unknown> {
    const fault = faultIn(id);
    async function done(): Promise<boolean> {
      if (fault === 'done_slow') await new Promise((resolve) => setTimeout(resolve, SLOW_DONE_MS));
      if (fault === 'done_fails' && performance.now() - claimedAt < FAILING_DONE_MS) throw down();
      if (fault === 'done_lost') {
        await own.done();
        return false;
      }
      if (fault === 'commit_fails' || fault === 'commit_rolled_back') {
        await own.release();
        throw new FactuareaWebhookError(fault === 'commit_fails' ? 'commit_failed' : fault, 'The contract’s store.');
      }
      return own.done();
    }
    async function release(): Promise<void> {
      if (fault === 'release_fails') throw down();
      return own.release();
    }
    return {
      state: 'mine',
      tx: fault?.startsWith('commit') ? { open: true } : undefined,
      fence: own.fence,
      done: () => record(id, 'done', done),
      release: () => record(id, 'release', release),
      extend: (ms) => record(id, 'extend', async () => own.extend?.(ms) ?? false),
      abandon: () => record(id, 'abandon', () => own.release()),
    };
  }

  return {
    claim: (id, options) =>
      record(
        id,
        'claim',
        async () => {
          const claimedAt = performance.now();
          if (faultIn(id) === 'claim_fails') throw down();
          if (faultIn(id) === 'claim_hangs') await new Promise<never>(() => {});
          const claim = await memory.claim(id, options);
          return claim.state === 'mine' ? faulty(id, claim, claimedAt) : claim;
        },
        (claim) => claim.state,
      ),
  };
}

function faultIn(id: string): StoreFault | undefined {
  return /^store-([a-z_]+)-/.exec(id)?.[1] as StoreFault | undefined;
}

function down(): FactuareaWebhookError {
  return new FactuareaWebhookError('store_unavailable', 'The contract’s store was told to fail.');
}
