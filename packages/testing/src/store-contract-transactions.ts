import assert from 'node:assert/strict';
import type { OwnClaim } from '@factuarea-webhook/core';
import type { CaseContext, StoreCase } from './store-contract.ts';
import { claimOwn, claimWhenFree, elsewhere, finish, long, stateOf, until } from './store-contract-tools.ts';

async function effect(context: CaseContext, claim: OwnClaim<unknown>, id: string): Promise<void> {
  await context.effect?.(claim.tx, id);
}

async function effects(context: CaseContext, id: string): Promise<unknown> {
  return context.countEffects?.(id);
}

/** What a transactional store promises of what is written through `tx`. */
export const transactionCases: readonly StoreCase[] = [
  {
    id: 'tx-commit',
    title: 'what is written through `tx` is there once the id is done, and not before',
    only: 'transaction',
    async run(context) {
      const claim = await claimOwn(context.store, 'paid');
      await effect(context, claim, 'paid');
      assert.equal(await effects(context, 'paid'), 0);
      assert.equal(await claim.done(), true);
      assert.equal(await effects(context, 'paid'), 1);
    },
  },
  {
    id: 'tx-rollback',
    title: 'what is written through `tx` is undone by a release, and the id is free',
    only: 'transaction',
    async run(context) {
      const claim = await claimOwn(context.store, 'failed');
      await effect(context, claim, 'failed');
      await claim.release();
      assert.equal(await effects(context, 'failed'), 0);
      await finish(elsewhere(context), 'failed');
    },
  },
  {
    id: 'tx-abandon',
    title: 'once a claim was abandoned nothing of it can commit, and the id is free',
    only: 'transaction',
    async run(context) {
      const claim = await claimOwn(context.store, 'stuck');
      await effect(context, claim, 'stuck');
      assert.ok(claim.abandon, 'a transaction can be abandoned');
      await claim.abandon();
      // Refused or lost, both will do.
      await (async () => effect(context, claim, 'stuck'))().catch(() => {});
      await assert.rejects(
        async () => claim.done(),
        (error: { code?: unknown }) => error.code === 'commit_rolled_back' || error.code === 'commit_failed',
      );
      await claim.release();
      assert.equal(await effects(context, 'stuck'), 0);
      const next = await claimWhenFree(elsewhere(context), 'stuck');
      await effect(context, next, 'stuck');
      assert.equal(await next.done(), true);
      assert.equal(await effects(context, 'stuck'), 1);
    },
  },
  {
    id: 'tx-settled',
    title: 'a claim that was released cannot be committed',
    only: 'transaction',
    async run(context) {
      const claim = await claimOwn(context.store, 'released');
      await claim.release();
      await claim.release();
      await assert.rejects(
        async () => claim.done(),
        (error: { code?: unknown }) => error.code === 'commit_rolled_back' || error.code === 'commit_failed',
      );
      assert.equal(await stateOf(elsewhere(context), 'released'), 'mine');
    },
  },
  {
    id: 'tx-once',
    title: '6 ids with 10 copies each, some runs failing, every copy retried: one effect per id',
    only: 'transaction',
    async run(context) {
      const stores = [context.store, elsewhere(context)] as const;
      let failures = 6;
      const deliver = async (id: string, at: number): Promise<boolean> => {
        const claim = await stores[at % 2 ? 1 : 0].claim(id, long);
        if (claim.state !== 'mine') return claim.state === 'done';
        await effect(context, claim, id);
        if (failures-- > 0) {
          await claim.release();
          return false;
        }
        return claim.done();
      };
      const copies = Array.from({ length: 60 }, (_, at) => [`once-${at % 6}`, at] as const);
      await Promise.all(copies.map(([id, at]) => until(`${id} to be done`, () => deliver(id, at), 40_000)));
      for (let id = 0; id < 6; id++) assert.equal(await effects(context, `once-${id}`), 1);
    },
  },
];
