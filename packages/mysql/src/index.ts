export type { StoreStats } from '@factuarea-webhook/core/store-kit';
export type { ConnectionOf, MysqlConnection, MysqlPool } from './client.ts';
export { type MysqlStore, type MysqlStoreOptions, mysqlStore } from './store.ts';
