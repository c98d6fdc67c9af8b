import assert from 'node:assert/strict';
import type { StoreCase } from './store-contract.ts';
import { claimOwn, claimWhenFree, elsewhere, finish, long, stateOf, until } from './store-contract-tools.ts';

/** What a claim is, in every store. */
export const claimCases: readonly StoreCase[] = [
  {
    id: 'claim-new',
    title: 'an id that was never seen is ours, with a fence above 0',
    async run({ store, subject }) {
      const claim = await claimOwn(store, 'new');
      assert.ok(Number.isSafeInteger(claim.fence) && claim.fence > 0, `fence ${claim.fence}`);
      assert.equal(claim.tx !== undefined, subject.transactional === true);
      await claim.release();
    },
  },
  {
    id: 'claim-done',
    title: 'a done id is done for every store on the same data',
    async run(context) {
      await finish(context.store, 'done');
      assert.deepEqual(await context.store.claim('done', long), { state: 'done' });
      assert.deepEqual(await elsewhere(context).claim('done', long), { state: 'done' });
    },
  },
  {
    id: 'claim-busy',
    title: 'a held id is busy, here and elsewhere, and the answer does not wait for it to end',
    async run(context) {
      const held = await claimOwn(context.store, 'held');
      for (const store of [context.store, elsewhere(context)]) {
        const askedAt = performance.now();
        const claim = await store.claim('held', { ...long, timeoutMs: 1000 });
        assert.ok(performance.now() - askedAt < 5000, 'answered in time');
        assert.equal(claim.state, 'busy');
        assert.ok(claim.state === 'busy' && claim.retryAfterMs > 0 && claim.retryAfterMs <= long.leaseMs);
      }
      assert.equal(await held.done(), true, 'being asked about changes nothing for the owner');
    },
  },
  {
    id: 'claim-release',
    title: 'a released id is free at once, and its later run has the larger fence',
    async run(context) {
      let fence = 0;
      for (let round = 0; round < 5; round++) {
        const claim = await claimOwn(round % 2 ? elsewhere(context) : context.store, 'failing');
        assert.ok(claim.fence > fence, `${claim.fence} after ${fence}`);
        fence = claim.fence;
        await claim.release();
      }
      await finish(context.store, 'failing');
    },
  },
  {
    id: 'claim-done-again',
    title: 'marking again after a lost reply says that the mark stands',
    async run({ store }) {
      const claim = await claimOwn(store, 'marked');
      assert.deepEqual([await claim.done(), await claim.done(), await claim.done()], [true, true, true]);
      assert.equal(await stateOf(store, 'marked'), 'done');
    },
  },
  {
    id: 'claim-release-after-done',
    title: 'a release that follows the mark changes nothing',
    async run(context) {
      const claim = await claimOwn(context.store, 'settled');
      await claim.done();
      await claim.release();
      assert.equal(await stateOf(elsewhere(context), 'settled'), 'done');
      assert.equal(await claim.done(), true);
    },
  },
  {
    id: 'claim-race',
    title: 'of 60 claims of one id at once, one is ours and no other is done before it is',
    async run(context) {
      const stores = [context.store, elsewhere(context)] as const;
      for (const id of ['race-1', 'race-2', 'race-3']) {
        const claims = await Promise.all(Array.from({ length: 60 }, (_, at) => stores[at % 2 ? 1 : 0].claim(id, long)));
        const mine = claims.filter((claim) => claim.state === 'mine');
        assert.equal(mine.length, 1);
        assert.equal(claims.filter((claim) => claim.state === 'busy').length, 59);
        assert.equal(await mine[0]?.done(), true);
        const after = await Promise.all(stores.map((store) => store.claim(id, long)));
        assert.deepEqual(after, [{ state: 'done' }, { state: 'done' }]);
      }
    },
  },
  {
    id: 'claim-once',
    title: '20 ids with 10 copies each, every copy retried until its id is done: one run per id',
    async run(context) {
      const stores = [context.store, elsewhere(context)] as const;
      const runs = new Map<string, number>();
      const copies = Array.from({ length: 200 }, (_, at) => ({ id: `once-${at % 20}`, store: stores[at % 2 ? 1 : 0] }));
      await Promise.all(
        copies.map(({ id, store }) =>
          until(
            `${id} to be done`,
            async () => {
              const claim = await store.claim(id, long);
              if (claim.state === 'mine') {
                runs.set(id, (runs.get(id) ?? 0) + 1);
                assert.equal(await claim.done(), true);
              }
              return claim.state !== 'busy';
            },
            40_000,
          ),
        ),
      );
      assert.deepEqual([...runs.values()], Array(20).fill(1));
    },
  },
  {
    id: 'claim-fence-order',
    title: 'runs that follow each other have fences that follow each other, whichever store grants them',
    async run(context) {
      const fences: number[] = [];
      const stores = [context.store, elsewhere(context)] as const;
      await Promise.all(
        Array.from({ length: 12 }, async (_, at) => {
          const claim = await claimWhenFree(stores[at % 2 ? 1 : 0], 'ordered');
          fences.push(claim.fence);
          await claim.release();
        }),
      );
      assert.deepEqual(
        fences,
        [...new Set(fences)].sort((a, b) => a - b),
      );
    },
  },
];
