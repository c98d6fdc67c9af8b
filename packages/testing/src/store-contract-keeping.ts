import assert from 'node:assert/strict';
import type { PruneOptions, Store } from '@factuarea-webhook/core';
import type { CaseContext, StoreCase } from './store-contract.ts';
import { claimOwn, claimWhenFree, elsewhere, finish, long, stateOf, until } from './store-contract-tools.ts';

const longAgo = new Date('2020-01-01T00:00:00Z');
const farAhead = new Date('2100-01-01T00:00:00Z');

function prune(store: Store<unknown>, options?: PruneOptions): Promise<number> {
  return store.prune?.(options) ?? Promise.resolve(0);
}

/** Prunes until `id` is gone: what was done in this very millisecond may stay. */
async function pruneAway(store: Store<unknown>, id: string): Promise<number> {
  let deleted = 0;
  await until(`${id} to be pruned`, async () => {
    deleted += await prune(store, { olderThan: farAhead });
    return (await stateOf(store, id)) === 'mine';
  });
  return deleted;
}

/** How long ids are kept, and how they are forgotten. */
export const keepingCases: readonly StoreCase[] = [
  {
    id: 'keep-expiry',
    title: 'a store that does not prune lets go of an id by itself once its retention is over',
    only: 'expires',
    async run({ store }) {
      const retentionMs = 300;
      const claim = await claimOwn(store, 'old', { ...long, retentionMs });
      // Taken before the mark, so that a slow reply cannot make the time look shorter than it was.
      const doneAt = performance.now();
      await claim.done();
      await claimWhenFree(store, 'old');
      assert.ok(performance.now() - doneAt >= retentionMs - 20, 'not before its time');
    },
  },
  {
    id: 'prune-old',
    title: 'pruning deletes what was done before the given moment, and nothing else',
    only: 'prunes',
    async run(context) {
      const { store } = context;
      await finish(store, 'done');
      assert.equal(await prune(store, { olderThan: longAgo }), 0);
      assert.equal(await prune(store), 0, 'the retention is not over');
      assert.equal(await stateOf(elsewhere(context), 'done'), 'done');
      assert.ok((await pruneAway(store, 'done')) >= 1);
      await finish(elsewhere(context), 'done');
    },
  },
  {
    id: 'prune-held',
    title: 'pruning never touches an id that is being handled, whatever moment it is given',
    only: 'prunes',
    async run(context) {
      const { store, subject } = context;
      await finish(store, 'done');
      const held = await claimOwn(store, 'held');
      if (!subject.serial) await pruneAway(elsewhere(context), 'done');
      assert.equal(await stateOf(elsewhere(context), 'held'), 'busy');
      assert.equal(await held.done(), true);
      assert.equal(await stateOf(elsewhere(context), 'held'), 'done');
    },
  },
  {
    id: 'prune-batches',
    title: 'pruning goes on, batch after batch, until all is deleted, also from several sides at once',
    only: 'prunes',
    async run(context) {
      const { store } = context;
      const ids = Array.from({ length: 25 }, (_, at) => `batch-${at}`);
      for (const id of ids) await finish(store, id);
      let deleted = 0;
      await until('all to be pruned', async () => {
        const sides = [store, elsewhere(context), store, elsewhere(context)];
        for (const n of await Promise.all(sides.map((one) => prune(one, { olderThan: farAhead, batchSize: 4 })))) {
          deleted += n;
        }
        return deleted >= ids.length;
      });
      assert.equal(deleted, ids.length, 'each is counted once');
      for (const id of ids) assert.equal(await stateOf(store, id), 'mine');
    },
  },
  {
    id: 'prune-options',
    title: 'prune options that cannot work are refused',
    only: 'prunes',
    async run({ store }) {
      for (const options of [{ batchSize: 0 }, { batchSize: 1.5 }, { olderThan: new Date('never') }]) {
        await assert.rejects(
          async () => prune(store, options),
          (error: { code?: unknown }) => error.code === 'config_error',
        );
      }
    },
  },
  {
    id: 'forget',
    title: 'a forgotten id is handled again, and its next run has the larger fence',
    only: 'forgets',
    async run(context: CaseContext) {
      const { forget, store } = context;
      const first = await claimOwn(store, 'again');
      await first.done();
      assert.equal(await forget?.('never seen'), false);
      assert.equal(await forget?.('AGAIN'), false);
      assert.equal(await forget?.('again'), true);
      const second = await claimOwn(elsewhere(context), 'again');
      assert.ok(second.fence > first.fence, `${second.fence} after ${first.fence}`);
      await first.release();
      assert.equal(await stateOf(store, 'again'), 'busy');
      assert.equal(await second.done(), true);
      assert.equal(await stateOf(elsewhere(context), 'again'), 'done');
    },
  },
];
