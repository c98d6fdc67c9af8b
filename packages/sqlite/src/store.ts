import type { Claim, ClaimOptions, PruneOptions, Store } from '@factuarea-webhook/core';
import {
  configError,
  inBatches,
  type PruneScheduleOptions,
  prunePlan,
  retentionSeen,
  type StopPruning,
  schedulePrune,
} from '@factuarea-webhook/core/store-kit';
import { access, TIMEOUT_MS } from './access.ts';
import { connections } from './connections.ts';
import type { SqliteDatabase } from './driver.ts';
import { leases } from './leases.ts';
import { type SqliteStats, statsOf } from './stats.ts';
import { eventTable } from './table.ts';
import { transactions } from './transactions.ts';

/** Options of `sqliteStore`, lease mode. */
export interface SqliteLeaseOptions {
  /** Default `lease`: a claim is a row with an end, and no transaction is open while a handler runs. */
  readonly mode?: 'lease';
  /**
   * The table, as `name` or `schema.name` where the database was attached under another. Default
   * `factuarea_webhook_events`. Give each consuming system its own: two apps with one table would take each other's
   * events for repeats.
   */
  readonly table?: string;
}

/** Options of `sqliteStore`, transaction mode. */
export interface SqliteTransactionOptions {
  /** `transaction`: what the handler writes through `context.tx` commits together with the mark, once per event. */
  readonly mode: 'transaction';
  /** As in lease mode. */
  readonly table?: string;
}

/** A store in an SQLite file. */
export interface SqliteStore<Tx = undefined> extends Store<Tx> {
  claim(id: string, options: ClaimOptions): Promise<Claim<Tx>>;
  /** Deletes ids that were done before `olderThan`, in small batches. Any number of processes may do so at once. */
  prune(options?: PruneOptions): Promise<number>;
  /** Prunes now and then, until the store is closed or the function given back is called. */
  schedulePrune(options?: PruneScheduleOptions): StopPruning;
  /** Forgets an id, so that its next delivery is handled again. True when it was known. */
  forget(id: string): Promise<boolean>;
  /** Makes the table where it is missing. The first claim does so too; call it where claims may not make tables. */
  migrate(): Promise<void>;
  /** What `migrate` runs, for those who keep migrations of their own. */
  readonly schema: string;
  /** Counts the ids that are done, by day. Reads the whole table: for people, not for every request. */
  stats(): Promise<SqliteStats>;
  /** Stops scheduled prunings, and closes the connection where the store has opened it. */
  close(): Promise<void>;
}

/**
 * Keeps ids in an SQLite file, through any synchronous driver: `node:sqlite`, `better-sqlite3` or `libsql`. Several
 * processes of one machine may share the file. Needs SQLite 3.35.
 *
 * Given a database, the store shares it with the app; given a function that opens one, it has a connection of its own.
 * Calls reject with `store_unavailable` where the file stays locked for three quarters of the receiver's
 * `storeTimeoutSeconds`.
 *
 * @throws `config_error` for a database or an option that cannot work.
 * @example
 * ```ts
 * import { DatabaseSync } from 'node:sqlite';
 * import { sqliteStore } from '@factuarea-webhook/sqlite';
 *
 * const store = sqliteStore(new DatabaseSync('app.db'));
 * ```
 */
export function sqliteStore(
  database: SqliteDatabase | (() => SqliteDatabase),
  options?: SqliteLeaseOptions,
): SqliteStore;
/**
 * Transaction mode: `context.tx` is a connection, opened for this event, with a transaction on it. What the handler
 * writes through it commits exactly once per event. SQLite has one writer at a time, so handlers take turns, and so do
 * the app's other writes: keep such a handler short, and let it write through `context.tx` alone.
 *
 * @example
 * ```ts
 * import Database from 'better-sqlite3';
 *
 * const store = sqliteStore(() => new Database('app.db'), { mode: 'transaction' });
 * const handler = (event, { tx }) => tx.prepare('UPDATE invoices SET paid = 1 WHERE id = ?').run(event.data.object.id);
 * ```
 */
export function sqliteStore<Db extends SqliteDatabase>(
  connect: () => Db,
  options: SqliteTransactionOptions,
): SqliteStore<Db>;
export function sqliteStore(
  source: SqliteDatabase | (() => SqliteDatabase),
  options: SqliteLeaseOptions | SqliteTransactionOptions = {},
): SqliteStore<SqliteDatabase | undefined> {
  const { mode, table: name } = check(source, options);
  const table = eventTable(name);
  const { shared, fresh, close } = connections(source);
  const own = access(shared, table);
  const retention = retentionSeen();
  const schedules = new Set<StopPruning>();
  const take = mode === 'transaction' ? transactions(fresh, own, table) : leases(own, table);

  async function prune(options?: PruneOptions): Promise<number> {
    const plan = prunePlan(options, retention.ageMs);
    return inBatches(() => own.write(TIMEOUT_MS, (database) => table.prune(database, plan)), plan);
  }

  return {
    schema: table.ddl,
    migrate: own.migrate,
    prune,
    claim(id, options) {
      retention.note(options.retentionMs);
      return take(id, options);
    },
    schedulePrune(options) {
      const stop = schedulePrune(prune, options);
      schedules.add(stop);
      return stop;
    },
    forget: (id) => own.write(TIMEOUT_MS, (database) => table.forget(database, id)),
    stats: async () => statsOf(await own.read(TIMEOUT_MS, table.days)),
    async close() {
      await Promise.all([...schedules].map((stop) => stop()));
      close();
    },
  };
}

function check(
  source: unknown,
  options: SqliteLeaseOptions | SqliteTransactionOptions,
): { mode: string; table: string } {
  for (const option of Object.keys(options)) {
    if (option !== 'mode' && option !== 'table') {
      throw configError(`There is no option \`${option}\`. The options are: mode, table.`);
    }
  }
  const { mode = 'lease', table = 'factuarea_webhook_events' } = options;
  if (mode !== 'lease' && mode !== 'transaction') throw configError('`mode` must be "lease" or "transaction".');
  if (typeof source === 'function') return { mode, table };
  for (const method of ['prepare', 'exec'] as const) {
    if (typeof (source as SqliteDatabase | null)?.[method] !== 'function') {
      throw configError(
        `The first argument has no method \`${method}\`. Give a database of node:sqlite, better-sqlite3 or libsql, or a function that opens one.`,
      );
    }
  }
  if (mode === 'lease') return { mode, table };
  throw configError(
    'Transaction mode needs a function that opens a connection: sqliteStore(() => new Database("app.db"), …). On a connection that others use too, their writes would be in the handler’s transaction.',
  );
}
