import type { Store } from '@factuarea-webhook/core';
import { claimCases } from './store-contract-claims.ts';
import { idCases } from './store-contract-ids.ts';
import { keepingCases } from './store-contract-keeping.ts';
import { leaseCases } from './store-contract-leases.ts';
import { modelCases } from './store-contract-model.ts';
import { transactionCases } from './store-contract-transactions.ts';

/** A store on empty data, made for one case. */
export interface StoreUnderTest<Tx = unknown> {
  readonly store: Store<Tx>;
  /** Another store on the same data, by another connection or client, as a second process would have it. */
  readonly second?: Store<Tx>;
  /** The store's own `forget`, where it has one. */
  forget?(id: string): Promise<boolean>;
  /** In a transactional store: writes a row for `id` through the open transaction. */
  effect?(tx: Tx, id: string): unknown;
  /** In a transactional store: counts the rows that were written for `id` and committed. */
  countEffects?(id: string): number | Promise<number>;
  /** Takes down what `create` made. */
  close(): unknown;
}

/** The store that a contract is run against. */
export interface StoreSubject<Tx = unknown> {
  /** How it is called in reports: `'redis'`, `'postgres, transaction mode'`. */
  readonly name: string;
  /** Makes the store, with nothing in it. Called once per case. */
  create(): StoreUnderTest<Tx> | Promise<StoreUnderTest<Tx>>;
  /** Whether a claim carries an open transaction. `effect` and `countEffects` are needed then. Default false. */
  readonly transactional?: boolean;
  /** Whether the store has `prune`. One that has none lets go of ids by itself. Default false. */
  readonly prunes?: boolean;
  /** Whether `create` gives `forget`. Default false. */
  readonly forgets?: boolean;
  /** Whether only one transaction can be open at a time, so that claims of other ids are busy too. Default false. */
  readonly serial?: boolean;
}

/** The two functions of a test runner that are used: jest's, vitest's and `node:test`'s fit as they are. */
export interface StoreContractRunner {
  describe(name: string, body: () => void): unknown;
  test(name: string, body: () => Promise<void>, ms?: number): unknown;
}

/** What a case gets to work with. */
export interface CaseContext extends StoreUnderTest {
  readonly subject: StoreSubject;
}

/** What a subject says of itself that decides which cases it has to pass. */
export type StoreKind = 'lease' | 'transaction' | 'prunes' | 'expires' | 'forgets';

/** One promise of a store, with an id that does not change from version to version. */
export interface StoreCase {
  readonly id: string;
  readonly title: string;
  /** The kind of store that it is about; all where it is left out. */
  readonly only?: StoreKind;
  run(context: CaseContext): Promise<void>;
}

/** Every case of the contract, in the order in which they are run. */
export const storeCases: readonly StoreCase[] = [
  ...claimCases,
  ...idCases,
  ...leaseCases,
  ...transactionCases,
  ...keepingCases,
  ...modelCases,
];

const CASE_MS = 60_000;

/**
 * Defines the tests that every store has to pass: one per promise, each with a stable id in its name. Assertions are
 * those of `node:assert`, so the suite runs alike under jest, vitest and `node:test`. Needs the package `fast-check`.
 *
 * The first case fails where `create` does not give what the subject says of itself.
 * @example
 * ```ts
 * import { describe, test } from 'node:test';
 * import { storeContract } from '@factuarea-webhook/testing/store-contract';
 *
 * storeContract({ name: 'my store', create: () => ({ store: myStore(), close() {} }) }, { describe, test });
 * ```
 */
export function storeContract<Tx>(subject: StoreSubject<Tx>, { describe, test }: StoreContractRunner): void {
  const kinds = new Set<StoreKind>([
    subject.transactional ? 'transaction' : 'lease',
    subject.prunes ? 'prunes' : 'expires',
    ...(subject.forgets ? (['forgets'] as const) : []),
  ]);
  // The cases hand a transaction back to `effect` and look into none, so its type is nothing to them.
  const opaque = subject as StoreSubject<unknown> as StoreSubject;
  describe(`store contract: ${subject.name}`, () => {
    for (const one of storeCases) {
      if (one.only && !kinds.has(one.only)) continue;
      test(`${one.id}: ${one.title}`, () => runCase(opaque, one), CASE_MS);
    }
  });
}

async function runCase(subject: StoreSubject, one: StoreCase): Promise<void> {
  const made = await subject.create();
  try {
    const { effect, countEffects, forget, store } = made;
    if (subject.transactional && !(effect && countEffects)) throw missing('`effect` and `countEffects`');
    if (subject.forgets && !forget) throw missing('`forget`');
    if (Boolean(subject.prunes) !== Boolean(store.prune))
      throw missing('`prune` and the subject’s `prunes`, or neither');
    await one.run({ ...made, subject });
  } finally {
    await made.close();
  }
}

function missing(what: string): Error {
  return new Error(`By what the subject says of itself, \`create\` must give ${what}.`);
}
