import assert from 'node:assert/strict';
import type { OwnClaim } from '@factuarea-webhook/core';
import fc from 'fast-check';
import { type ModelClaim, modelStore } from './model-store.ts';
import type { CaseContext, StoreCase } from './store-contract.ts';
import { claimWhenFree, elsewhere, long, pause } from './store-contract-tools.ts';

const RUNS = 30;
const LEASE_MS = 15;

/** One call. `nth` picks one of the claims granted so far. */
type Call =
  | { readonly call: 'claim'; readonly id: number; readonly elsewhere: boolean; readonly ranOut: boolean }
  | { readonly call: 'done' | 'release' | 'abandon'; readonly nth: number }
  | { readonly call: 'extend'; readonly nth: number; readonly ranOut: boolean }
  | { readonly call: 'forget'; readonly id: number };

/** A claim in the model and the same in the store. */
interface Pair {
  readonly model: ModelClaim;
  readonly real: OwnClaim<unknown>;
  marked: boolean;
}

/** A random sequence of calls; a store's kind decides which there are. */
function calls({ subject, forget }: CaseContext): fc.Arbitrary<Call[]> {
  const id = fc.nat(2);
  const nth = fc.nat(9);
  const lease = !subject.transactional;
  const ranOut = lease ? fc.boolean() : fc.constant(false);
  const claim = fc.record({ call: fc.constant('claim' as const), id, elsewhere: fc.boolean(), ranOut });
  const settle = fc.record({ call: fc.constantFrom('done' as const, 'release' as const), nth });
  const extend = fc.record({ call: fc.constant('extend' as const), nth, ranOut });
  const abandon = fc.record({ call: fc.constant('abandon' as const), nth });
  // In a transactional store a forgotten id could still be claimed by a transaction that nobody sees yet.
  const forgetting = lease && forget ? [fc.record({ call: fc.constant('forget' as const), id })] : [];
  return fc.array(fc.oneof(claim, claim, settle, settle, lease ? extend : abandon, ...forgetting), {
    minLength: 1,
    maxLength: 25,
  });
}

/** Plays the calls on the model and on the store. `prefix` keeps one run's ids apart from the next's. */
async function play(context: CaseContext, sequence: readonly Call[], prefix: string): Promise<void> {
  const { subject, store, forget } = context;
  const model = modelStore(subject.transactional === true);
  const granted: Pair[] = [];
  const unsettled: OwnClaim<unknown>[] = [];
  const fences = new Map<string, number>();
  const abandoned = new Set<string>();

  /** Lets a lease that was made too short run out. */
  const outwait = (ranOut: boolean): Promise<void> | undefined => (ranOut ? pause(LEASE_MS + 15) : undefined);

  async function claim(id: string, second: boolean, ranOut: boolean): Promise<void> {
    const waits = subject.serial === true && !model.isDone(id) && model.isTaken(id);
    const expected = waits ? 'busy' : model.claim(id, ranOut);
    // Where claims take turns, a short limit keeps the wait for a turn that cannot come short.
    const options = { ...long, leaseMs: ranOut ? LEASE_MS : long.leaseMs, ...(waits && { timeoutMs: 60 }) };
    const from = second ? elsewhere(context) : store;
    // A server may take a moment to notice that an abandoned connection is gone; until then the id is busy.
    const isLeaving = abandoned.delete(id) && typeof expected !== 'string';
    const real = isLeaving ? await claimWhenFree(from, id, options) : await from.claim(id, options);
    if (real.state === 'mine') unsettled.push(real);
    assert.equal(real.state, typeof expected === 'string' ? expected : 'mine', `claim of ${id}`);
    if (real.state !== 'mine' || typeof expected === 'string') return;
    assert.ok(real.fence > (fences.get(id) ?? 0), `fence ${real.fence} after ${fences.get(id)}`);
    fences.set(id, real.fence);
    granted.push({ model: expected, real, marked: false });
    await outwait(ranOut);
  }

  async function onClaim(call: Exclude<Call, { id: number }>): Promise<void> {
    const pair = granted[call.nth % granted.length];
    if (!pair) return;
    if (call.call === 'done') {
      const result = await pair.real.done().catch(() => 'rejected');
      assert.equal(result, model.done(pair.model), `done of ${pair.model.id}, fence ${pair.real.fence}`);
      pair.marked ||= result === true;
    } else if (call.call === 'extend') {
      const held = await pair.real.extend?.(call.ranOut ? LEASE_MS : long.leaseMs);
      assert.equal(held, model.extend(pair.model, call.ranOut), `extend of ${pair.model.id}, fence ${pair.real.fence}`);
      await outwait(call.ranOut);
    } else {
      model.release(pair.model);
      if (call.call === 'abandon') abandoned.add(pair.model.id);
      await (call.call === 'release' ? pair.real.release() : pair.real.abandon?.());
    }
  }

  async function forgetId(id: string): Promise<void> {
    assert.equal(await forget?.(id), model.forget(id), `forget of ${id}`);
    // What a mark that was forgotten says of itself is nobody's business.
    const left = granted.filter((pair) => !(pair.marked && pair.model.id === id));
    granted.splice(0, granted.length, ...left);
  }

  try {
    for (const call of sequence) {
      if (call.call === 'claim') await claim(prefix + call.id, call.elsewhere, call.ranOut);
      else if (call.call === 'forget') await forgetId(prefix + call.id);
      else await onClaim(call);
    }
  } finally {
    // Also what should not have been granted: one failure must not be the cause of the next.
    for (const real of unsettled) await real.release();
  }
}

export const modelCases: readonly StoreCase[] = [
  {
    id: 'model',
    title: 'random sequences of calls are answered as the model answers them',
    async run(context) {
      let run = 0;
      const property = fc.asyncProperty(calls(context), (sequence) => play(context, sequence, `model-${run++}-`));
      await fc.assert(property, { numRuns: RUNS, interruptAfterTimeLimit: 50_000, markInterruptAsFailure: true });
    },
  },
];
