import {
  type BusyClaim,
  type Claim,
  type ClaimOptions,
  FactuareaWebhookError,
  type OwnClaim,
} from '@factuarea-webhook/core';
import { guard, placesOf } from '@factuarea-webhook/core/store-kit';
import type { MysqlConnection, MysqlPool } from './client.ts';
import { type Connection, connect } from './connections.ts';
import {
  DUPLICATE,
  errorNumber,
  isBroken,
  isConflict,
  NO_SAVEPOINT,
  storeUnavailable,
  unavailable,
} from './failures.ts';
import { CLOCK, hex, rowOf, text } from './sql.ts';
import type { Ask, Table } from './table.ts';

// A transaction whose process has vanished with its machine is ended by the server this long after the handler's limit.
const GRACE_SECONDS = 5;

/** What claiming in mode `transaction` needs to know. */
export interface TransactionSettings {
  readonly pool: MysqlPool;
  readonly table: Table;
  readonly maxConnections: number;
  /** The time limit of one call. */
  readonly timeoutOf: (options: ClaimOptions) => number;
}

/** Claims by an uncommitted row: the claim is the open transaction, its mark is COMMIT and its release ROLLBACK. */
export function transactionClaims<Client extends MysqlConnection>(
  settings: TransactionSettings,
): (id: string, options: ClaimOptions) => Promise<Claim<Client>> {
  // What this process knows itself needs no connection: copies of an event that is being claimed or handled here.
  const asked = new Map<string, Promise<Claim<Client>>>();
  const running = new Set<string>();

  async function ask(id: string, options: ClaimOptions): Promise<Claim<Client>> {
    const claim = await open<Client>(settings, id, options, () => running.delete(id));
    if (claim.state === 'mine') running.add(id);
    return claim;
  }

  return async (id, options) => {
    if (running.has(id)) return busy(options.leaseMs);
    const first = asked.get(id);
    if (first) {
      const claim = await first;
      return claim.state === 'mine' ? busy(options.leaseMs) : claim;
    }
    const asking = ask(id, options).finally(() => asked.delete(id));
    asked.set(id, asking);
    return asking;
  };
}

function busy(retryAfterMs: number): BusyClaim {
  return { state: 'busy', retryAfterMs };
}

async function open<Client extends MysqlConnection>(
  settings: TransactionSettings,
  id: string,
  options: ClaimOptions,
  onEnd: () => void,
): Promise<Claim<Client>> {
  const { pool, table, maxConnections, timeoutOf } = settings;
  const timeoutMs = timeoutOf(options);
  const end = performance.now() + timeoutMs;
  const left = (): number => Math.max(end - performance.now(), 1);
  for (let again = true; ; again = false) {
    let connection: Connection<Client> | undefined;
    let unlock = '';
    try {
      // The other half is for the claim itself.
      const free = await placesOf(pool).take(maxConnections, left() / 2);
      connection = await connect<Client>(pool, left(), free);
      const { ask: send } = connection;
      const ask: Ask = (sql) => send(sql, left());
      await table.check(id, ask);
      const lock = table.lockOf(id);
      // A repeat takes no lock. One statement, so that an event costs no round trip more than it has to.
      const row = `(SELECT HEX(CONVERT(event_id USING utf8mb4)) FROM ${table.name} WHERE ${rowOf(id).at})`;
      const { rows } = await ask(
        `SELECT found, IF(found IS NULL, GET_LOCK(${lock}, 0), 0), @@SESSION.wait_timeout, ${CLOCK} FROM (SELECT ${row} AS found) AS ids`,
      );
      const [found, locked, idle, fence] = rows[0] as [string | null, number, number, number];
      if (found !== null) sameId(table, id, found);
      if (Number(locked) !== 1) {
        connection.giveBack();
        return found === null ? busy(options.leaseMs) : { state: 'done' };
      }
      unlock = `SET @factuarea_webhook = RELEASE_LOCK(${lock}), SESSION wait_timeout = ${idle}`;
      const limit = Math.ceil((options.limitMs ?? 120_000) / 1000) + GRACE_SECONDS;
      if (limit < idle) await ask(`SET SESSION wait_timeout = ${limit}`);
      await ask('START TRANSACTION');
      try {
        await ask(`INSERT INTO ${table.name} (event_id, received_at) VALUES (${text(id)}, NOW())`);
      } catch (error) {
        // Not INSERT IGNORE, which hides much else that goes wrong.
        if (errorNumber(error) !== DUPLICATE) throw error;
        const {
          rows: [there],
        } = await ask(`SELECT ${row}`);
        sameId(table, id, there?.[0]);
        rollBack(connection, unlock, timeoutMs);
        return { state: 'done' };
      }
      // Ends with the transaction, whoever ends it: that is how a handler's own COMMIT, a DDL or a deadlock is noticed.
      await ask(`SAVEPOINT ${SAVEPOINT}`);
      return own({ connection, unlock, table, id, fence: Number(fence), timeoutMs, onEnd });
    } catch (error) {
      if (connection) rollBack(connection, unlock, timeoutMs);
      if (isConflict(error)) return busy(1000);
      // A connection that had died unnoticed in the pool tells nothing about the server.
      if (again && connection?.ended && isBroken(error) && left() > 1) continue;
      throw unavailable(error, table.name);
    }
  }
}

const SAVEPOINT = 'factuarea_webhook';

/** @throws `store_unavailable` where the row that is in the way, given in hex, is not that of this id. */
function sameId({ name, mend }: Table, id: string, found: unknown): void {
  if (found === hex(id)) return;
  throw storeUnavailable(
    found
      ? `The column \`event_id\` of ${name} takes this id and another for the same. Make it tell them apart: ${mend};`
      : `A unique index of ${name} other than that of \`event_id\` refused the row. Give this store a table of its own.`,
  );
}

/** Ends a transaction that has nothing to keep, without anybody waiting for it. */
function rollBack(connection: Connection, unlock: string, timeoutMs: number): void {
  if (connection.ended) return;
  connection.ask('ROLLBACK', timeoutMs).then(() => giveBack(connection, unlock, timeoutMs), connection.destroy);
}

/** Frees the lock, which belongs to the session and would outlive the transaction, and gives the connection back. */
async function giveBack(connection: Connection, unlock: string, timeoutMs: number): Promise<void> {
  try {
    if (unlock) await connection.ask(unlock, timeoutMs);
    connection.giveBack();
  } catch {
    connection.destroy();
  }
}

interface Open<Client extends MysqlConnection> {
  readonly connection: Connection<Client>;
  /** Frees the lock and takes back what was set for the session. */
  readonly unlock: string;
  readonly table: Table;
  readonly id: string;
  readonly fence: number;
  readonly timeoutMs: number;
  readonly onEnd: () => void;
}

function own<Client extends MysqlConnection>(opened: Open<Client>): OwnClaim<Client> {
  const { connection, unlock, table, id, fence, timeoutMs, onEnd } = opened;
  const { tx, end } = guard(connection.client);
  const ask: Ask = (sql) => connection.ask(sql, timeoutMs);
  let settling: Promise<boolean> | undefined;
  let abandoned = false;

  function settle(why: string): void {
    end(why);
    onEnd();
  }

  /** Whether the transaction is still the one that the claim opened. */
  async function isOpen(): Promise<boolean> {
    try {
      await ask(`RELEASE SAVEPOINT ${SAVEPOINT}`);
      return true;
    } catch (error) {
      if (errorNumber(error) === NO_SAVEPOINT) return false;
      throw error;
    }
  }

  async function commit(): Promise<boolean> {
    if (abandoned) throw rolledBack('The handler ran past its limit, so its transaction was rolled back.');
    settle(TX_ENDED);
    let sent = false;
    try {
      // Where the handler ended the transaction itself, its row tells how. A deadlock ends it too, by rolling it back.
      const stands =
        (await isOpen()) || (await ask(`SELECT 1 FROM ${table.name} WHERE ${rowOf(id).exactly}`)).rows.length > 0;
      sent = stands;
      await ask(stands ? 'COMMIT' : 'ROLLBACK');
      await giveBack(connection, unlock, timeoutMs);
      if (stands) return true;
    } catch (error) {
      rollBack(connection, unlock, timeoutMs);
      throw sent ? commitError(error) : rolledBack('The connection was lost before COMMIT.', error);
    }
    throw rolledBack(
      'The transaction was rolled back: by a deadlock that the handler swallowed, or by the handler itself.',
    );
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
      if (settling || abandoned) return;
      settling = Promise.reject(rolledBack('The claim was released.'));
      settling.catch(() => {});
      settle(TX_ENDED);
      try {
        const open = await isOpen();
        await ask('ROLLBACK');
        // A mark that the handler committed itself, before it failed, would make the retry a repeat.
        if (!open) {
          await ask(`DELETE FROM ${table.name} WHERE ${rowOf(id).exactly}`);
          await ask('COMMIT');
        }
        await giveBack(connection, unlock, timeoutMs);
      } catch {
        // The end of the connection is a rollback too.
        connection.destroy();
      }
    },
    async abandon() {
      if (settling || abandoned) return;
      abandoned = true;
      settle('The handler ran past its limit, so its transaction was rolled back.');
      connection.destroy();
    },
  };
}

const TX_ENDED =
  'The handler’s transaction has ended: `context.tx` was used by work that the handler did not wait for.';

function rolledBack(message: string, cause?: unknown): FactuareaWebhookError {
  return new FactuareaWebhookError('commit_rolled_back', message, cause === undefined ? {} : { cause });
}

/** Tells a COMMIT that the server has refused from one whose outcome nobody knows. */
function commitError(error: unknown): FactuareaWebhookError {
  if (isBroken(error)) {
    return new FactuareaWebhookError(
      'commit_failed',
      'The connection was lost at COMMIT, so nobody knows whether it took effect. The next delivery finds out.',
      { cause: error },
    );
  }
  if (isConflict(error)) {
    return new FactuareaWebhookError(
      'commit_failed',
      'The server refused to commit because another transaction was in the way. A retry can succeed.',
      { cause: error },
    );
  }
  return rolledBack('The server refused to commit: look at the cause.', error);
}
