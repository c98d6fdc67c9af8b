import type { Claim, ClaimOptions, PruneOptions, Store } from '@factuarea-webhook/core';
import {
  configError,
  type PruneScheduleOptions,
  prunePlan,
  retentionSeen,
  type StopPruning,
  schedulePrune,
} from '@factuarea-webhook/core/store-kit';
import type { ConnectionOf, MysqlConnection, MysqlPool } from './client.ts';
import { leaseClaims } from './lease.ts';
import { type Mode, tableOf } from './table.ts';
import { transactionClaims } from './transaction.ts';
import { forget, migrate, prune, type StoreStats, schemaOf, stats } from './upkeep.ts';

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

/** A store in MySQL or MariaDB. Every call rejects with `store_unavailable` where the server does not do as asked. */
export interface MysqlStore<Tx> extends Store<Tx> {
  claim(id: string, options: ClaimOptions): Promise<Claim<Tx>>;
  /** Deletes ids that were done before `olderThan`, in small batches; gives the number deleted. */
  prune(options?: PruneOptions): Promise<number>;
  /** Prunes now and then for as long as the process lives. Gives the function that stops it. */
  schedulePrune(options?: PruneScheduleOptions): StopPruning;
  /** Forgets an id, so that its next delivery is handled again. True when it was known. */
  forget(id: string): Promise<boolean>;
  /** Makes the table and its index where they are missing, and checks them where not. Safe from many at once. */
  migrate(): Promise<void>;
  /** The DDL of the table, for migrations of your own. */
  readonly schema: string;
  /** Counts the ids that are done, by reading the whole table: for the command line, not for every request. */
  stats(): Promise<StoreStats>;
  /** Stops scheduled prunings, and waits for one that is under way. The pool stays open: it is yours. */
  close(): Promise<void>;
}

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
  const stops = new Set<StopPruning>();
  const claim: Store<MysqlConnection | undefined>['claim'] =
    mode === 'lease'
      ? leaseClaims({ pool, table, timeoutOf })
      : transactionClaims({ pool, table, maxConnections, timeoutOf });

  const store: MysqlStore<MysqlConnection | undefined> = {
    async claim(id, claimOptions) {
      retention.note(claimOptions.retentionMs);
      return claim(id, claimOptions);
    },
    prune: async (pruneOptions) => prune(pool, table, mode, prunePlan(pruneOptions, retention.ageMs)),
    schedulePrune(scheduleOptions) {
      const stopNow = schedulePrune((pruneOptions) => store.prune(pruneOptions), scheduleOptions);
      const stop = (): Promise<void> => {
        stops.delete(stop);
        return stopNow();
      };
      stops.add(stop);
      return stop;
    },
    forget: (id) => forget(pool, table, mode, id),
    migrate: () => migrate(pool, table, mode),
    schema: schemaOf(table, mode),
    stats: () => stats(pool, table, mode),
    async close() {
      await Promise.all([...stops].map((stop) => stop()));
    },
  };
  return store;
}

function check(pool: MysqlPool, options: MysqlStoreOptions) {
  if (typeof pool?.getConnection !== 'function' || 'promise' in pool) {
    throw configError(
      'The first argument must be a pool of `mysql2/promise`: mysqlStore(createPool(url)). Of another pool, give `pool.promise()`.',
    );
  }
  for (const name of Object.keys(options)) {
    if (!optionNames.includes(name)) {
      throw configError(`There is no option \`${name}\`. The options are: ${optionNames.join(', ')}.`);
    }
  }
  const { mode = 'transaction', timeoutSeconds } = options;
  if (mode !== 'transaction' && mode !== 'lease') throw configError("`mode` must be 'transaction' or 'lease'.");
  if (timeoutSeconds !== undefined && !(timeoutSeconds >= 0.05 && timeoutSeconds <= 30)) {
    throw configError('`timeoutSeconds` must be a number from 0.05 to 30.');
  }
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
    timeoutMs: timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000,
  } as const;
}
