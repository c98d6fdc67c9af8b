export type { StoreStats } from '@factuarea-webhook/core/store-kit';
export type { ClientOf, PgClient, PgPool } from './client.ts';
export { type PostgresStore, type PostgresStoreOptions, postgresStore } from './store.ts';
