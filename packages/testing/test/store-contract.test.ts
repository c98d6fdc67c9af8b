import { type Claim, memoryStore, type OwnClaim, type Store } from '@factuarea-webhook/core';
import { describe, expect, test } from '@jest/globals';
import { type StoreUnderTest, storeCases, storeContract } from '../src/store-contract.ts';

storeContract(
  {
    name: 'memory',
    forgets: true,
    create() {
      const store = memoryStore();
      return { store, forget: store.forget, close() {} };
    },
  },
  { describe, test },
);

/** A memory store with one fault, made by changing what a claim of it does. */
function faulty(change: (own: OwnClaim, id: string, store: Store) => Partial<OwnClaim>): Store {
  const memory = memoryStore();
  const store: Store = {
    async claim(id, options): Promise<Claim> {
      const claim = await memory.claim(id, options);
      return claim.state === 'mine' ? { ...claim, ...change(claim, id, memory) } : claim;
    },
  };
  return store;
}

/** The ids among `cases` that fail on what `create` makes. */
async function failures(cases: readonly string[], create: () => StoreUnderTest): Promise<string[]> {
  const failed: string[] = [];
  const running: (() => Promise<void>)[] = [];
  const runner = {
    describe: (_name: string, body: () => void) => body(),
    test: (name: string, body: () => Promise<void>) => {
      const id = name.split(':')[0] as string;
      if (cases.includes(id)) running.push(() => body().catch(() => void failed.push(id)));
    },
  };
  storeContract({ name: 'faulty', create }, runner);
  for (const run of running) await run();
  return failed;
}

describe('the store contract finds', () => {
  const lowerCased = (): Store => {
    const memory = memoryStore();
    return { claim: (id, options) => memory.claim(id.toLowerCase(), options) };
  };
  const counting = (): (() => number) => {
    let count = 100;
    return () => count--;
  };
  const down = counting();
  const faults: [string, string[], () => Store][] = [
    ['a mark that does not take', ['claim-done', 'model'], () => faulty(() => ({ done: async () => true }))],
    ['a mark that is denied when asked again', ['claim-done-again'], () => faulty(once)],
    ['a release that does not free', ['claim-release', 'model'], () => faulty(() => ({ release: async () => {} }))],
    ['an extension that does not hold', ['lease-extend', 'model'], () => faulty(() => ({ extend: async () => true }))],
    ['a fence that shrinks', ['claim-release', 'model'], () => faulty(() => ({ fence: down() }))],
    ['ids that lose their case', ['ids-apart'], lowerCased],
    ['an owner that keeps its mark after a takeover', ['lease-lost-done', 'model'], () => faulty(unaware)],
  ];

  /** Marks once and says so once. */
  function once(own: OwnClaim): Partial<OwnClaim> {
    let asked = false;
    return {
      async done() {
        const first = !asked;
        asked = true;
        return first && own.done();
      },
    };
  }

  /** Says that it marked, whoever holds the id by then. */
  function unaware(own: OwnClaim): Partial<OwnClaim> {
    return {
      async done() {
        await own.done();
        return true;
      },
    };
  }

  test.each(faults)(
    '%s',
    async (_fault, cases, create) => {
      expect(await failures(cases, () => ({ store: create(), close() {} }))).toEqual(cases);
    },
    120_000,
  );
});

test('the ids of the cases are their own', () => {
  const ids = storeCases.map((one) => one.id);
  expect(new Set(ids).size).toBe(ids.length);
});
