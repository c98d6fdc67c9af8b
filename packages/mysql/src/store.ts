import type { ClaimOptions, PruneOptions, Store } from '@factuarea-webhook/core';
import {
  checkNames,
  configError,
  eventIdOf,
  prunePlan,
  pruneSchedules,
  retentionSeen,
  type SqlStore,
  timeoutMsOf,
} from '@factuarea-webhook/core/store-kit';
import type { ConnectionOf, MysqlConnection, MysqlPool } from './client.ts';
import { leaseClaims } from './lease.ts';
import { type Mode, tableOf } from './table.ts';
import { transactionClaims } from './transaction.ts';
import { forget, migrate, prune, schemaOf, stats } from './upkeep.ts';

/** Options of `mysqlStore`. */
export interface MysqlStoreOptions {
  /**
   * `transaction` (default): the handler runs inside the transaction that marks the id, so that what it writes through
   * `context.tx` happens once. `lease`: the id is held by a row that runs out, and no handler holds a connection.
   */
  readonly mode?: Mode;
  /**
   * The table, also as `schema.table`. Default `processed_webhook_events`, in mode `lease` `factuarea_webhook_leases`.
   * Give each consuming system its own: two apps with one table would take each other's events for repeats.
   */
  readonly table?: string;
  /**
   * Mode `transaction`: how many of the pool's connections claims and their handlers may hold. Above it the answer is
   * 503. Default four fifths of the pool's `connectionLimit`, so that a handler finds a second connection free.
   */
  readonly maxConnections?: number;
  /** The time limit of one call, in seconds. Default: the receiver's `storeTimeoutSeconds`, 2. */
  readonly timeoutSeconds?: number;
}

/** A store in MySQL or MariaDB. */
export interface MysqlStore<Tx> extends SqlStore<Tx> {}

const optionNames = ['mode', 'table', 'maxConnections', 'timeoutSeconds'];

/**
 * Keeps ids in MySQL 8 or MariaDB 10.6 and newer, through your `mysql2/promise` pool. By default each claim is a
 * transaction on the guide's own table, which the handler writes into as well: `context.tx` is the connection, and its
 * writes commit exactly once.
 *
 * @throws `config_error` for an option that cannot work.
 * @example
 * ```ts
 * import { mysqlStore } from '@factuarea-webhook/mysql';
 * import { createPool } from 'mysql2/promise';
 *
 * const store = mysqlStore(createPool(process.env.DATABASE_URL));
 * await store.migrate();
 * createReceiver({
 *   store,
 *   handler: (event, { tx }) => tx.query('INSERT INTO paid (event) VALUES (?)', [event.id]),
 * });
 * ```
 */
export function mysqlStore<Pool extends MysqlPool>(
  pool: Pool,
  options: MysqlStoreOptions & { readonly mode: 'lease' },
): MysqlStore<undefined>;
export function mysqlStore<Pool extends MysqlPool>(
  pool: Pool,
  options?: MysqlStoreOptions & { readonly mode?: 'transaction' },
): MysqlStore<ConnectionOf<Pool>>;
export function mysqlStore<Pool extends MysqlPool>(
  pool: Pool,
  options: MysqlStoreOptions,
): MysqlStore<ConnectionOf<Pool> | undefined>;
export function mysqlStore(pool: MysqlPool, options: MysqlStoreOptions = {}): MysqlStore<MysqlConnection | undefined> {
  const { mode, table, maxConnections, timeoutMs } = check(pool, options);
  const timeoutOf = ({ timeoutMs: asked = 2000 }: ClaimOptions): number => timeoutMs ?? asked;
  const retention = retentionSeen();
  const claim: Store<MysqlConnection | undefined>['claim'] =
    mode === 'lease'
      ? leaseClaims({ pool, table, timeoutOf })
      : transactionClaims({ pool, table, maxConnections, timeoutOf });

  const pruneNow = async (options?: PruneOptions): Promise<number> =>
    prune(pool, table, mode, prunePlan(options, retention.ageMs));
  const { schedulePrune, stopAll } = pruneSchedules(pruneNow);

  return {
    async claim(id, claimOptions) {
      retention.note(claimOptions.retentionMs);
      return claim(id, claimOptions);
    },
    prune: pruneNow,
    schedulePrune,
    forget: async (id) => forget(pool, table, mode, eventIdOf(id)),
    migrate: () => migrate(pool, table, mode),
    schema: schemaOf(table, mode),
    stats: () => stats(pool, table, mode),
    close: stopAll,
  };
}

function check(pool: MysqlPool, options: MysqlStoreOptions) {
  if (typeof pool?.getConnection !== 'function' || 'promise' in pool) {
    throw configError(
      'The first argument must be a pool of `mysql2/promise`: mysqlStore(createPool(url)). Of another pool, give `pool.promise()`.',
    );
  }
  checkNames(options, optionNames);
  const { mode = 'transaction', timeoutSeconds } = options;
  if (mode !== 'transaction' && mode !== 'lease') throw configError("`mode` must be 'transaction' or 'lease'.");
  // 0 is mysql2's word for a pool without a limit.
  const size = pool.pool?.config?.connectionLimit || 1000;
  const { maxConnections = Math.max(1, Math.floor(size * 0.8)) } = options;
  if (!Number.isInteger(maxConnections) || maxConnections < 1 || maxConnections > size) {
    throw configError(`\`maxConnections\` must be a whole number from 1 to the pool's \`connectionLimit\`, ${size}.`);
  }
  const { table = mode === 'lease' ? 'factuarea_webhook_leases' : 'processed_webhook_events' } = options;
  return {
    mode,
    table: tableOf(table, mode),
    maxConnections,
    timeoutMs: timeoutMsOf(timeoutSeconds),
  } as const;
}
