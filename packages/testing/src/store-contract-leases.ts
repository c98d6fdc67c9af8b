import assert from 'node:assert/strict';
import type { OwnClaim } from '@factuarea-webhook/core';
import type { CaseContext, StoreCase } from './store-contract.ts';
import { brief, claimOwn, claimWhenFree, elsewhere, finish, long, pause, stateOf } from './store-contract-tools.ts';

/** An owner whose lease has run out, and the one who took over. */
async function takeOver(context: CaseContext, id: string): Promise<{ old: OwnClaim<unknown>; now: OwnClaim<unknown> }> {
  const old = await claimOwn(context.store, id, brief);
  const now = await claimWhenFree(elsewhere(context), id, long);
  return { old, now };
}

/** Waits for a lease that began at `startedAt` or before to have run out, by the one clock that this process has. */
async function runOut(startedAt: number): Promise<void> {
  // 20 ms for clocks that count in whole milliseconds and for timers that are early.
  while (performance.now() < startedAt + brief.leaseMs + 20) await pause(5);
}

/** What a store without transactions promises of its leases. */
export const leaseCases: readonly StoreCase[] = [
  {
    id: 'lease-expiry',
    title: 'a lease ends by itself, not before its time, and the next run has the larger fence',
    only: 'lease',
    async run(context) {
      const askedAt = performance.now();
      const old = await claimOwn(context.store, 'crashed', brief);
      const now = await claimWhenFree(elsewhere(context), 'crashed', long);
      assert.ok(performance.now() - askedAt >= brief.leaseMs - 5, 'not before its time');
      assert.ok(now.fence > old.fence);
      assert.equal(await now.done(), true);
    },
  },
  {
    id: 'lease-lost-done',
    title: 'after a takeover the old owner cannot mark the id done',
    only: 'lease',
    async run(context) {
      const { old, now } = await takeOver(context, 'lost');
      assert.equal(await old.done(), false);
      assert.equal(await stateOf(context.store, 'lost'), 'busy');
      assert.equal(await now.done(), true);
      assert.equal(await old.done(), false, 'the mark is another’s');
      assert.equal(await now.done(), true);
    },
  },
  {
    id: 'lease-lost-release',
    title: 'after a takeover the old owner’s release frees nothing, neither before nor after the mark',
    only: 'lease',
    async run(context) {
      const { old, now } = await takeOver(context, 'lost');
      await old.release();
      assert.equal(await stateOf(context.store, 'lost'), 'busy');
      await now.done();
      await old.release();
      assert.equal(await stateOf(context.store, 'lost'), 'done');
    },
  },
  {
    id: 'lease-lost-extend',
    title: 'after a takeover the old owner cannot extend, and the new owner’s lease stays as it is',
    only: 'lease',
    async run(context) {
      const { old, now } = await takeOver(context, 'lost');
      assert.equal(await old.extend?.(3_600_000), false);
      const claim = await context.store.claim('lost', long);
      assert.ok(claim.state === 'busy' && claim.retryAfterMs <= long.leaseMs);
      await now.release();
      await finish(context.store, 'lost');
    },
  },
  {
    id: 'lease-extend',
    title: 'an extended lease holds for the new time from now, longer or shorter',
    only: 'lease',
    async run(context) {
      const claim = await claimOwn(context.store, 'slow', brief);
      const startedAt = performance.now();
      assert.ok(claim.extend, 'a lease can be extended');
      assert.equal(await claim.extend(60_000), true);
      await runOut(startedAt);
      assert.equal(await stateOf(elsewhere(context), 'slow'), 'busy');
      assert.equal(await claim.extend(50), true);
      const now = await claimWhenFree(elsewhere(context), 'slow', long);
      assert.ok(now.fence > claim.fence);
      await now.release();
    },
  },
  {
    id: 'lease-untaken',
    title: 'a lease that ran out but that nobody took can still be extended and marked by its owner',
    only: 'lease',
    async run(context) {
      const claim = await claimOwn(context.store, 'late', brief);
      await runOut(performance.now());
      assert.equal(await claim.extend?.(brief.leaseMs), true);
      await runOut(performance.now());
      assert.equal(await claim.done(), true);
      assert.equal(await stateOf(elsewhere(context), 'late'), 'done');
    },
  },
  {
    id: 'lease-settled',
    title: 'a claim that was settled is settled: nothing of it can be brought back',
    only: 'lease',
    async run({ store }) {
      const released = await claimOwn(store, 'released');
      await released.release();
      await released.release();
      assert.equal(await released.done(), false);
      assert.equal(await released.extend?.(60_000), false);
      await finish(store, 'released');
      const marked = await claimOwn(store, 'marked');
      await marked.done();
      assert.equal(await marked.extend?.(60_000), false);
      assert.equal(await stateOf(store, 'marked'), 'done');
    },
  },
  {
    id: 'lease-retention',
    title: 'a done id outlives the lease under which it was handled',
    only: 'lease',
    async run(context) {
      const claim = await claimOwn(context.store, 'kept', brief);
      const startedAt = performance.now();
      await claim.done();
      await runOut(startedAt);
      assert.equal(await stateOf(elsewhere(context), 'kept'), 'done');
    },
  },
];
