import { type Claim, type ClaimOptions, type ErrorCode, FactuareaWebhookError } from '@factuarea-webhook/core';
import { newToken, pause } from '@factuarea-webhook/core/store-kit';
import { type Access, impatiently, PATIENCE, patiently, rollBack, TIMEOUT_MS } from './access.ts';
import { isConstraint, isLocked, isOutsideTransaction, messageOf, type SqliteDatabase } from './driver.ts';
import type { Standing, Table } from './table.ts';

/** By what is known: the transaction that holds the file's one write lock says nothing of when it will end. */
const BUSY = { state: 'busy', retryAfterMs: 1000 } as const;

/**
 * Claims as transactions: a claim has a connection of its own with the write lock, which the handler's writes go
 * through. SQLite has one such lock, so handlers take turns.
 */
export function transactions<Db extends SqliteDatabase>(
  connect: () => Db,
  { read }: Access,
  table: Table,
): (id: string, options: ClaimOptions) => Promise<Claim<Db>> {
  /** The id whose handler has this process's turn. One connection at a time is enough, since one can write. */
  let turn: string | undefined;

  return async (id, { timeoutMs = TIMEOUT_MS }) => {
    const end = performance.now() + timeoutMs * PATIENCE;
    const known = turn === id ? BUSY : await read(timeoutMs, (database) => table.standing(database, id));
    if (known) return known;
    while (turn !== undefined) {
      if (turn === id || performance.now() >= end) return BUSY;
      await pause(1 + Math.random() * 4);
    }
    turn = id;
    const token = newToken();
    let database: Db | undefined;
    const close = (): void => {
      turn = undefined;
      attemptClose(database);
    };
    try {
      const opened = await patiently((end - performance.now()) / PATIENCE, () => {
        database ??= connect();
        return begin(database, table, id, token);
      });
      if (typeof opened === 'number') return own(database as Db, table, opened, token, timeoutMs, close);
      close();
      return opened;
    } catch (error) {
      close();
      if (isLocked((error as { cause?: unknown }).cause)) return BUSY;
      throw error;
    }
  };
}

/** Opens the transaction and marks the id in it. Gives the fence, or how the id stands where it is not free. */
function begin(database: SqliteDatabase, table: Table, id: string, token: string): number | NonNullable<Standing> {
  return impatiently(database, () => {
    database.exec(`PRAGMA ${table.schema}.synchronous = FULL`);
    database.exec('BEGIN IMMEDIATE');
    try {
      const known = table.standing(database, id);
      if (known) rollBack(database);
      return known ?? table.mark(database, id, token);
    } catch (error) {
      rollBack(database);
      throw error;
    }
  });
}

/** The claim. Its connection is closed when it ends, so that nothing that comes late can be written through it. */
function own<Db extends SqliteDatabase>(
  database: Db,
  table: Table,
  fence: number,
  token: string,
  timeoutMs: number,
  close: () => void,
): Claim<Db> {
  let ended: 'committed' | FactuareaWebhookError | undefined;

  function fail(code: ErrorCode, message: string, cause?: unknown): FactuareaWebhookError {
    const error = new FactuareaWebhookError(code, message, { cause });
    ended = error;
    rollBack(database);
    close();
    return error;
  }

  function commit(): void {
    if (!table.isMarked(database, fence, token)) {
      throw fail('commit_rolled_back', 'The handler has ended the store’s transaction, which is the store’s to end.');
    }
    impatiently(database, () => database.exec('COMMIT'));
  }

  function refused(cause: unknown): FactuareaWebhookError {
    if (isOutsideTransaction(cause)) {
      const message = 'SQLite had rolled the transaction back, or the handler had ended it.';
      return fail('commit_rolled_back', `No transaction was open at the end. ${message}`, cause);
    }
    // These leave the transaction open, so that it is certain to be undone. After anything else nothing is.
    const undone = isLocked(cause) || isConstraint(cause);
    return fail(undone ? 'commit_rolled_back' : 'commit_failed', `SQLite refused: ${messageOf(cause)}.`, cause);
  }

  async function undo(message: string): Promise<void> {
    if (ended) return;
    ended = new FactuareaWebhookError('commit_rolled_back', message);
    // The fence is the clock's, so the next run must not begin within the same millisecond.
    await pause(2);
    rollBack(database);
    close();
  }

  return {
    state: 'mine',
    tx: database,
    fence,
    async done() {
      if (ended === 'committed') return true;
      if (ended) throw ended;
      try {
        // Without a write-ahead log a commit has to wait until nobody reads.
        await patiently(timeoutMs, commit);
      } catch (error) {
        throw ended ?? refused((error as { cause?: unknown }).cause);
      }
      ended = 'committed';
      close();
      return true;
    },
    release: () => undo('The claim has been released.'),
    abandon: () => undo('The claim has been given up: its handler ran past its limit.'),
  };
}

/** A driver may refuse to close while a query is read row by row; such a connection is closed when it is collected. */
function attemptClose(database: SqliteDatabase | undefined): void {
  try {
    database?.close();
  } catch {
    // Its transaction has ended by now, or ends with it.
  }
}
