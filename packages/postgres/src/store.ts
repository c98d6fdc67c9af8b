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
import type { ClientOf, PgClient, PgPool } from './client.ts';
import { leaseClaims } from './lease.ts';
import { tableOf } from './table.ts';
import { transactionClaims } from './transaction.ts';
import { forget, type Mode, migrate, prune, schemaOf, stats } from './upkeep.ts';

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
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
   * 503. Default four fifths of the pool's `max`, so that a handler finds a second connection free.
   */
  readonly maxConnections?: number;
  /** The time limit of one call, in seconds. Default: the receiver's `storeTimeoutSeconds`, 2. */
  readonly timeoutSeconds?: number;
}

/** A store in Postgres. */
export interface PostgresStore<Tx> extends SqlStore<Tx> {}

const optionNames = ['mode', 'table', 'maxConnections', 'timeoutSeconds'];

/**
 * Keeps ids in Postgres 13 or newer, through your `pg` pool. By default each claim is a transaction on the guide's own
 * table, which the handler writes into as well: `context.tx` is the connection, and its writes commit exactly once.
 *
 * @throws `config_error` for an option that cannot work.
 * @example
 * ```ts
 * import { postgresStore } from '@factuarea-webhook/postgres';
 * import { Pool } from 'pg';
 *
 * const store = postgresStore(new Pool({ connectionString, connectionTimeoutMillis: 2000 }));
 * await store.migrate();
 * createReceiver({
 *   store,
 *   handler: (event, { tx }) => tx.query('INSERT INTO paid (event) VALUES ($1)', [event.id]),
 * });
 * ```
 */
export function postgresStore<Pool extends PgPool>(
  pool: Pool,
  options: PostgresStoreOptions & { readonly mode: 'lease' },
): PostgresStore<undefined>;
export function postgresStore<Pool extends PgPool>(
  pool: Pool,
  options?: PostgresStoreOptions & { readonly mode?: 'transaction' },
): PostgresStore<ClientOf<Pool>>;
export function postgresStore<Pool extends PgPool>(
  pool: Pool,
  options?: PostgresStoreOptions,
): PostgresStore<ClientOf<Pool> | undefined>;
export function postgresStore(pool: PgPool, options: PostgresStoreOptions = {}): PostgresStore<PgClient | undefined> {
  const { mode, table, maxConnections, timeoutMs } = check(pool, options);
  listenTo(pool);
  const timeoutOf = ({ timeoutMs: asked = 2000 }: ClaimOptions): number => timeoutMs ?? asked;
  const retention = retentionSeen();
  const claim: Store<PgClient | undefined>['claim'] =
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
    forget: async (id) => forget(pool, table, mode, eventIdOf(id), timeoutMs ?? 2000),
    migrate: () => migrate(pool, table, mode),
    schema: schemaOf(table, mode),
    stats: () => stats(pool, table, mode),
    close: stopAll,
  };
}

const listened = new WeakSet<PgPool>();

/**
 * Without a listener, a connection that breaks when Postgres restarts ends the whole process: an idle one by the pool, a
 * new one by itself. The pool stops listening to a new one before it hands it over, and the error can come in between.
 */
function listenTo(pool: PgPool): void {
  if (listened.has(pool)) return;
  listened.add(pool);
  pool.on?.('error', () => {});
  const made = pool as unknown as { on?(event: 'connect', listener: (client?: PgClient) => void): unknown };
  made.on?.('connect', (client) => client?.on?.('error', () => {}));
}

function check(pool: PgPool, options: PostgresStoreOptions) {
  // A client of `pg` and one of ioredis have a `connect` too, which gives no connection.
  if (typeof pool?.connect !== 'function' || 'escapeIdentifier' in pool || 'evalsha' in pool) {
    throw configError('The first argument must be a pool: postgresStore(new Pool({ connectionString })).');
  }
  checkNames(options, optionNames);
  const { mode = 'transaction', timeoutSeconds } = options;
  if (mode !== 'transaction' && mode !== 'lease') throw configError("`mode` must be 'transaction' or 'lease'.");
  const size = pool.options?.max ?? 10;
  const { maxConnections = Math.max(1, Math.floor(size * 0.8)) } = options;
  if (!Number.isInteger(maxConnections) || maxConnections < 1 || maxConnections > size) {
    throw configError(`\`maxConnections\` must be a whole number from 1 to the pool's \`max\`, ${size}.`);
  }
  const { table = mode === 'lease' ? 'factuarea_webhook_leases' : 'processed_webhook_events' } = options;
  return {
    mode,
    table: tableOf(table, mode),
    maxConnections,
    timeoutMs: timeoutMsOf(timeoutSeconds),
  } as const;
}
