import type { PruneOptions } from '@factuarea-webhook/core';
import {
  checkNames,
  configError,
  eventIdOf,
  inBatches,
  prunePlan,
  pruneSchedules,
  retentionSeen,
  type SqlStore,
} from '@factuarea-webhook/core/store-kit';
import { access, TIMEOUT_MS } from './access.ts';
import { connections } from './connections.ts';
import type { SqliteDatabase } from './driver.ts';
import { leases } from './leases.ts';
import { statsOf } from './stats.ts';
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

/**
 * A store in an SQLite file. The first claim makes the table where it is missing; `migrate` is for where claims may not.
 * `close` also closes the connection that the store has opened.
 */
export interface SqliteStore<Tx = undefined> extends SqlStore<Tx> {}

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
  const take = mode === 'transaction' ? transactions(fresh, own, table) : leases(own, table);

  async function prune(options?: PruneOptions): Promise<number> {
    const plan = prunePlan(options, retention.ageMs);
    return inBatches(() => own.write(TIMEOUT_MS, (database) => table.prune(database, plan)), plan);
  }

  const { schedulePrune, stopAll } = pruneSchedules(prune);

  return {
    schema: table.ddl,
    migrate: own.migrate,
    prune,
    claim(id, options) {
      retention.note(options.retentionMs);
      return take(id, options);
    },
    schedulePrune,
    async forget(id) {
      const known = eventIdOf(id);
      return own.write(TIMEOUT_MS, (database) => table.forget(database, known));
    },
    stats: async () => statsOf(await own.read(TIMEOUT_MS, table.days)),
    async close() {
      await stopAll();
      close();
    },
  };
}

function check(
  source: unknown,
  options: SqliteLeaseOptions | SqliteTransactionOptions,
): { mode: string; table: string } {
  checkNames(options, ['mode', 'table']);
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
