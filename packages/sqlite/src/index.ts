export type { StoreStats } from '@factuarea-webhook/core/store-kit';
export type { SqliteDatabase, SqliteStatement } from './driver.ts';
export {
  type SqliteLeaseOptions,
  type SqliteStore,
  type SqliteTransactionOptions,
  sqliteStore,
} from './store.ts';
