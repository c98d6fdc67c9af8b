export type { SqliteDatabase, SqliteStatement } from './driver.ts';
export type { SqliteStats } from './stats.ts';
export {
  type SqliteLeaseOptions,
  type SqliteStore,
  type SqliteTransactionOptions,
  sqliteStore,
} from './store.ts';
