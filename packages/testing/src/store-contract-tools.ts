import assert from 'node:assert/strict';
import type { Claim, ClaimOptions, OwnClaim, Store } from '@factuarea-webhook/core';
import type { CaseContext } from './store-contract.ts';

const DAY_MS = 86_400_000;

/** Lifetimes with a lease that outlasts every case. */
export const long: ClaimOptions = { leaseMs: 60_000, retentionMs: 90 * DAY_MS };

/** Lifetimes with a lease that a case can outwait. */
export const brief: ClaimOptions = { ...long, leaseMs: 120 };

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Asks until the answer is there. Fails after `ms`, so that a promise that is not kept does not hang. */
export async function until<Value>(
  what: string,
  ask: () => Promise<Value | undefined | false>,
  ms = 10_000,
): Promise<Value> {
  const end = performance.now() + ms;
  for (;;) {
    const value = await ask();
    if (value !== undefined && value !== false) return value;
    assert.ok(performance.now() < end, `waited ${ms} ms for ${what}`);
    await pause(10);
  }
}

/** Claims an id that nothing stands in the way of. */
export async function claimOwn(
  store: Store<unknown>,
  id: string,
  options: ClaimOptions = long,
): Promise<OwnClaim<unknown>> {
  return own(await store.claim(id, options));
}

function own(claim: Claim<unknown>): OwnClaim<unknown> {
  assert.equal(claim.state, 'mine');
  return claim as OwnClaim<unknown>;
}

/** Waits until the id can be had, as the sender's retries do. */
export function claimWhenFree(
  store: Store<unknown>,
  id: string,
  options: ClaimOptions = long,
): Promise<OwnClaim<unknown>> {
  return until(`a claim of ${JSON.stringify(id)}`, async () => {
    const claim = await store.claim(id, options);
    return claim.state === 'mine' && claim;
  });
}

/** Claims and marks an id. */
export async function finish(store: Store<unknown>, id: string, options: ClaimOptions = long): Promise<void> {
  assert.equal(await (await claimWhenFree(store, id, options)).done(), true);
}

/** The store through which a second process would see the same data. */
export function elsewhere({ store, second = store }: CaseContext): Store<unknown> {
  return second;
}

export async function stateOf(store: Store<unknown>, id: string): Promise<string> {
  const claim = await store.claim(id, long);
  if (claim.state === 'mine') await claim.release();
  return claim.state;
}
