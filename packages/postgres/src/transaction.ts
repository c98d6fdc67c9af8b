import { type Claim, type ClaimOptions, FactuareaWebhookError, type OwnClaim } from '@factuarea-webhook/core';
import { type Ask, busy, guard, placesOf, sharing, warnOfOwnEnd } from '@factuarea-webhook/core/store-kit';
import type { PgClient, PgPool } from './client.ts';
import { type Connection, connect, sessionTimeout } from './connections.ts';
import { isBroken, sqlState, unavailable } from './failures.ts';
import { text } from './sql.ts';
import type { Table } from './table.ts';

// A transaction whose process has vanished with its machine is ended by Postgres this long after the handler's limit.
const GRACE_MS = 5_000;
const LIMIT_MS = 120_000;

/** What claiming in mode `transaction` needs to know. */
export interface TransactionSettings {
  readonly pool: PgPool;
  readonly table: Table;
  readonly maxConnections: number;
  /** The time limit of one call. */
  readonly timeoutOf: (options: ClaimOptions) => number;
}

/** Claims by an uncommitted row: the claim is the open transaction, its mark is COMMIT and its release ROLLBACK. */
export function transactionClaims<Client extends PgClient>(settings: TransactionSettings): Ask<Client> {
  // Copies of an event that is being handled in this process need no connection to be told so.
  const running = new Map<string, number>();
  // The share of repeats among the last claims, by and large.
  let repeats = 0;
  const ask = sharing<Client>(async (id, options) => {
    const claim = await open<Client>(settings, id, options, repeats > 0.5, () => running.delete(id));
    repeats += (Number(claim.state === 'done') - repeats) / 8;
    if (claim.state === 'mine') running.set(id, performance.now() + (options.limitMs ?? LIMIT_MS));
    return claim;
  });
  return async (id, options) => ((running.get(id) ?? 0) > performance.now() ? busy(options.leaseMs) : ask(id, options));
}

/**
 * Opens a transaction and claims in it, in one round trip. Where a repeat is likely, as when thousands of events are
 * replayed by hand, a mere look comes first: it took Postgres a third of what a claim in vain and its end took.
 */
async function open<Client extends PgClient>(
  { pool, table, maxConnections, timeoutOf }: TransactionSettings,
  id: string,
  options: ClaimOptions,
  looksFirst: boolean,
  onEnd: () => void,
): Promise<Claim<Client>> {
  const { leaseMs, limitMs = LIMIT_MS } = options;
  const timeoutMs = timeoutOf(options);
  const end = performance.now() + timeoutMs;
  const left = (): number => Math.max(end - performance.now(), 1);
  for (let again = true; ; again = false) {
    let connection: Connection<Client> | undefined;
    try {
      const place = await placesOf(pool).take(maxConnections, left());
      connection = await connect<Client>(pool, left(), place.free);
      const { ask } = connection;
      const column = await table.idOf(id, (sql) => ask(sql, left()));
      const look = `SELECT FROM ${table.name} WHERE event_id = ${column}`;
      // Two statements in one message are one transaction to Postgres, without a BEGIN and a COMMIT to be answered.
      const limit = `SET LOCAL statement_timeout = ${Math.ceil(left())}`;
      if (looksFirst && (await ask(`${limit}; ${look}`, left())).at(-1)?.rows.length === 1) {
        connection.giveBack();
        return { state: 'done' };
      }
      const session = await sessionTimeout(connection, left());
      const results = await ask(claimMessage(table, id, column, left(), limitMs, session), left());
      const fence = results.at(-1)?.rows[0]?.['fence'];
      if (fence) {
        place.granted();
        const ended = (): void => {
          // Once the handler has ended it needs no second connection, so what is kept free for that serves the commits.
          place.free();
          onEnd();
        };
        return own(connection, table, column, Number(fence), timeoutMs, ended);
      }
      // Not ours: done where the row has been committed. Looked for outside of the transaction, which may see the past.
      const found = await ask(`ROLLBACK; ${look}`, left());
      connection.giveBack();
      return found.at(-1)?.rows.length === 1 ? { state: 'done' } : busy(leaseMs);
    } catch (error) {
      if (connection) void rollBack(connection, timeoutMs);
      if (/^40/.test(sqlState(error) ?? '')) return busy(1000);
      // A connection that had died unnoticed in the pool tells nothing about Postgres.
      if (again && connection?.ended && left() > 1) continue;
      throw unavailable(error, table.name);
    }
  }
}

/**
 * BEGIN, limits and claim as one message. The lock tells at once that another transaction is handling the id, where a
 * plain ON CONFLICT insert would wait for its end. The handler's own limits are set by the way, in a condition that
 * always holds, which spares two statements and their answers.
 */
function claimMessage(
  { name, regclass }: Table,
  id: string,
  column: string,
  timeoutMs: number,
  limitMs: number,
  sessionMs: number,
): string {
  const limit = Math.ceil(limitMs);
  return `BEGIN;
SET LOCAL statement_timeout = ${Math.ceil(timeoutMs * 0.8)};
INSERT INTO ${name} (event_id, received_at) SELECT ${column}, CURRENT_TIMESTAMP
  WHERE pg_try_advisory_xact_lock(hashtextextended(${text(id)} COLLATE "C", ${regclass}::oid::bigint))
    AND set_config('idle_in_transaction_session_timeout', '${limit + GRACE_MS}', true) > ''
    AND set_config('statement_timeout', '${Math.min(sessionMs || limit, limit)}', true) > ''
  ON CONFLICT (event_id) DO NOTHING RETURNING pg_current_xact_id()::text AS fence`;
}

/** Ends a transaction that has nothing to keep. Never rejects, and seldom needs to be waited for. */
async function rollBack(connection: Connection, timeoutMs: number): Promise<void> {
  if (!connection.ended) await connection.ask('ROLLBACK', timeoutMs).then(connection.giveBack, connection.destroy);
}

function own<Client extends PgClient>(
  connection: Connection<Client>,
  table: Table,
  column: string,
  fence: number,
  timeoutMs: number,
  onEnd: () => void,
): OwnClaim<Client> {
  const { tx, end } = guard(connection.client);
  // The row of this very transaction, should the handler have ended it by itself.
  const ownRow = `${table.name} WHERE event_id = ${column} AND xmin = '${fence % 2 ** 32}'::xid`;
  let settling: Promise<boolean> | undefined;
  let over = false;

  function settle(): void {
    end('The handler’s transaction has ended: `context.tx` was used by work that the handler did not wait for.');
    onEnd();
  }

  async function commit(): Promise<boolean> {
    if (over) throw rolledBack('The transaction was rolled back before: by a release, or at the handler’s limit.');
    settle();
    try {
      const command = endedByHandler(connection)
        ? undefined
        : (await connection.ask('COMMIT', timeoutMs)).at(-1)?.command;
      // Where the tag is not known, the row tells.
      const stands =
        command === 'COMMIT' ||
        (command !== 'ROLLBACK' && (await connection.ask(`SELECT FROM ${ownRow}`, timeoutMs))[0]?.rows.length === 1);
      connection.giveBack();
      if (stands) return true;
    } catch (error) {
      void rollBack(connection, timeoutMs);
      throw commitError(error);
    }
    throw rolledBack('The transaction was rolled back: a statement in it had failed, or the handler ended it itself.');
  }

  return {
    state: 'mine',
    tx,
    fence,
    done() {
      settling ??= commit();
      return settling;
    },
    async release() {
      if (settling || over) return;
      over = true;
      settle();
      try {
        // A mark that the handler committed itself, before it failed, would make the retry a repeat.
        const undo = endedByHandler(connection) ? `DELETE FROM ${ownRow}` : 'ROLLBACK';
        await connection.ask(undo, timeoutMs);
        connection.giveBack();
      } catch {
        // The end of the connection is a rollback too.
        await connection.destroy();
      }
    },
    async abandon() {
      if (settling || over) return;
      over = true;
      end('The handler ran past its limit, so its transaction was rolled back.');
      onEnd();
      await connection.destroy();
    },
  };
}

/** Whether the handler has ended the transaction by itself, which is warned of. */
function endedByHandler({ client }: Connection): boolean {
  const isEnded = client.getTransactionStatus?.() === 'I';
  if (isEnded) warnOfOwnEnd();
  return isEnded;
}

function rolledBack(message: string, cause?: unknown): FactuareaWebhookError {
  return new FactuareaWebhookError('commit_rolled_back', message, cause === undefined ? {} : { cause });
}

/** Tells a COMMIT that Postgres has refused from one whose outcome nobody knows. */
function commitError(error: unknown): FactuareaWebhookError {
  const state = sqlState(error);
  if (isBroken(error)) {
    return new FactuareaWebhookError(
      'commit_failed',
      'The connection was lost at COMMIT, so nobody knows whether it took effect. The next delivery finds out.',
      { cause: error },
    );
  }
  if (state?.startsWith('40') || state === '57014') {
    return new FactuareaWebhookError(
      'commit_failed',
      'Postgres refused to commit because another transaction was in the way. A retry can succeed.',
      { cause: error },
    );
  }
  return rolledBack('Postgres refused to commit: look at the cause, such as a deferred constraint.', error);
}
