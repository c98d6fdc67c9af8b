import { createReceiver } from '@factuarea-webhook/core';
import { type ClientOf, type PostgresStore, postgresStore } from '@factuarea-webhook/postgres';
import { Pool, type PoolClient } from 'pg';
import { type Equal, expectType } from '../../core/test-types/helpers.ts';

const pool = new Pool();

// `tx` is the client of the pool that was given, and never `any`.
expectType<Equal<ClientOf<Pool>, PoolClient>>();
const store = postgresStore(pool);
expectType<Equal<typeof store, PostgresStore<PoolClient>>>();
createReceiver({
  store,
  handler: (_, { tx }) => {
    expectType<Equal<typeof tx, PoolClient>>();
  },
});

// A lease has no transaction that a handler could write through.
createReceiver({
  store: postgresStore(pool, { mode: 'lease' }),
  handler: (_, { tx }) => {
    expectType<Equal<typeof tx, undefined>>();
  },
});

// A mode that is only known when the program runs.
declare const mode: 'transaction' | 'lease';
const either = postgresStore(pool, { mode });
expectType<Equal<typeof either, PostgresStore<PoolClient | undefined>>>();

// Anything with the methods that are called is a pool, and its client is `tx`.
interface MyClient {
  query(text: string): Promise<unknown>;
  release(destroy?: boolean): void;
  readonly mine: true;
}
declare const mine: { connect(): Promise<MyClient> };
const ofMine = postgresStore(mine);
expectType<Equal<typeof ofMine, PostgresStore<MyClient>>>();

// @ts-expect-error There is no such option.
postgresStore(pool, { tabel: 'events' });
// @ts-expect-error No pool.
postgresStore({});
