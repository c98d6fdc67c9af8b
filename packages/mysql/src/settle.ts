import { FactuareaWebhookError, type OwnClaim } from '@factuarea-webhook/core';
import { guard, warnOfOwnEnd } from '@factuarea-webhook/core/store-kit';
import type { MysqlConnection } from './client.ts';
import type { Connection } from './connections.ts';
import { errorNumber, isBroken, isConflict, NO_SAVEPOINT } from './failures.ts';
import { rowOf } from './sql.ts';
import type { Ask, Table } from './table.ts';

/** Ends with the transaction, whoever ends it: that is how a handler's own COMMIT, a DDL or a deadlock is noticed. */
export const SAVEPOINT = 'factuarea_webhook';

/** Ends a transaction that has nothing to keep, without anybody waiting for it. */
export function rollBack(connection: Connection, unlock: string, timeoutMs: number): void {
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

/** A claim's open transaction, and what is needed to settle it. */
export interface Open<Client extends MysqlConnection> {
  readonly connection: Connection<Client>;
  /** Frees the lock and takes back what was set for the session. */
  readonly unlock: string;
  readonly table: Table;
  readonly id: string;
  readonly fence: number;
  readonly timeoutMs: number;
  readonly onEnd: () => void;
}

export function own<Client extends MysqlConnection>(opened: Open<Client>): OwnClaim<Client> {
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
      if (errorNumber(error) !== NO_SAVEPOINT) throw error;
      warnOfOwnEnd();
      return false;
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
      const givenBack = giveBack(connection, unlock, timeoutMs);
      // A repeat finds the row and asks for no lock, so the answer need not wait until that is free.
      if (stands) return true;
      await givenBack;
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
