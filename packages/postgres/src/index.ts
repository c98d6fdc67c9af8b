export type { ClientOf, PgClient, PgPool } from './client.ts';
export { type PostgresStore, type PostgresStoreOptions, postgresStore } from './store.ts';
export type { StoreStats } from './upkeep.ts';
