import { createReceiver } from '@factuarea-webhook/core';
import { type ConnectionOf, type MysqlStore, mysqlStore } from '@factuarea-webhook/mysql';
import { createPool, type Pool, type PoolConnection } from 'mysql2/promise';
import { type Equal, expectType } from '../../core/test-types/helpers.ts';

const pool = createPool('mysql://127.0.0.1/app');

// `tx` is the connection of the pool that was given, and never `any`.
expectType<Equal<ConnectionOf<Pool>, PoolConnection>>();
const store = mysqlStore(pool);
expectType<Equal<typeof store, MysqlStore<PoolConnection>>>();
createReceiver({
  store,
  handler: (_, { tx }) => {
    expectType<Equal<typeof tx, PoolConnection>>();
  },
});

// A lease has no transaction that a handler could write through.
createReceiver({
  store: mysqlStore(pool, { mode: 'lease' }),
  handler: (_, { tx }) => {
    expectType<Equal<typeof tx, undefined>>();
  },
});

// A mode that is only known when the program runs.
declare const mode: 'transaction' | 'lease';
const either = mysqlStore(pool, { mode });
expectType<Equal<typeof either, MysqlStore<PoolConnection | undefined>>>();
