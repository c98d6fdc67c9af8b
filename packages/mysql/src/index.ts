export type { ConnectionOf, MysqlConnection, MysqlPool } from './client.ts';
export { type MysqlStore, type MysqlStoreOptions, mysqlStore } from './store.ts';
export type { StoreStats } from './upkeep.ts';
