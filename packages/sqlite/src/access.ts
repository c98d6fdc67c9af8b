import { FactuareaWebhookError } from '@factuarea-webhook/core';
import { pause } from '@factuarea-webhook/core/store-kit';
import { isInUse, isLocked, messageOf, type SqliteDatabase, setting } from './driver.ts';
import type { Table } from './table.ts';

/**
 * How long SQLite itself may wait for a lock, in milliseconds. The driver is synchronous, so this time is the whole
 * process's: what is left of the wait is spent between attempts, while other requests go on.
 */
const BUSY_TIMEOUT_MS = 5;

/** `PRAGMA synchronous`: from FULL on, a commit is on the disk when it returns. */
const FULL = 2;

/** The part of a call's time limit that is spent on waiting for a lock. The rest is for the answer to get out. */
export const PATIENCE = 0.75;

/** What a call may take where the receiver does not say so, in milliseconds. */
export const TIMEOUT_MS = 2000;

/** A connection that is opened when it is first needed, with the table on it made when it is first used. */
export interface Access {
  /** Reads. Needs no lock, and sees nothing that is not committed. */
  read<Value>(timeoutMs: number, work: (database: SqliteDatabase) => Value): Promise<Value>;
  /** Writes, in a transaction of its own that is on the disk when this resolves. */
  write<Value>(timeoutMs: number, work: (database: SqliteDatabase) => Value): Promise<Value>;
  /** Makes the table and its index where they are missing. */
  migrate(): Promise<void>;
}

export function access(open: () => SqliteDatabase, { schema, ddl, exists }: Table): Access {
  let ready = false;

  function prepared(): SqliteDatabase {
    const database = open();
    if (ready) return database;
    preferWal(database, schema);
    if (!exists(database)) durably(database, schema, () => database.exec(ddl));
    ready = true;
    return database;
  }

  return {
    read: (timeoutMs, work) =>
      patiently(timeoutMs, () => {
        const database = prepared();
        return impatiently(database, () => work(database));
      }),
    write: (timeoutMs, work) =>
      patiently(timeoutMs, () => {
        const database = prepared();
        return durably(database, schema, () => work(database));
      }),
    migrate: () =>
      patiently(TIMEOUT_MS, () => {
        const database = open();
        preferWal(database, schema);
        durably(database, schema, () => database.exec(ddl));
        ready = true;
      }),
  };
}

/**
 * Does `work` as soon as no other connection is in its way.
 *
 * @throws `store_unavailable` where that is not so in time, or where SQLite refuses for another reason.
 */
export async function patiently<Value>(timeoutMs: number, work: () => Value): Promise<Value> {
  const patienceMs = timeoutMs * PATIENCE;
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (error instanceof FactuareaWebhookError) throw error;
      const passes = isLocked(error) || isInUse(error);
      if (!passes || performance.now() >= end) throw unavailable(error, patienceMs);
    }
    // At random, since SQLite keeps no queue: two that ask in step would meet again and again.
    await pause(2 + Math.random() * 10);
  }
}

/** Does `work` without letting SQLite hold the process up for a lock. The app's own setting is back afterwards. */
export function impatiently<Value>(database: SqliteDatabase, work: () => Value): Value {
  const own = setting(database, 'busy_timeout') ?? 0;
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  try {
    return work();
  } finally {
    database.exec(`PRAGMA busy_timeout = ${own}`);
  }
}

function durably<Value>(database: SqliteDatabase, schema: string, work: () => Value): Value {
  return impatiently(database, () =>
    synchronously(database, schema, () => {
      // IMMEDIATE takes the write lock before anything is read, and fails where other code has left a transaction open
      // on this connection: what is written inside that one would go with its rollback.
      database.exec('BEGIN IMMEDIATE');
      try {
        const value = work();
        database.exec('COMMIT');
        return value;
      } catch (error) {
        rollBack(database);
        throw error;
      }
    }),
  );
}

/** Lets commits reach the disk before they return, whatever the app has chosen for its own. */
function synchronously<Value>(database: SqliteDatabase, schema: string, work: () => Value): Value {
  const own = Number(setting(database, `${schema}.synchronous`) ?? FULL);
  if (own >= FULL) return work();
  database.exec(`PRAGMA ${schema}.synchronous = FULL`);
  try {
    return work();
  } finally {
    database.exec(`PRAGMA ${schema}.synchronous = ${own}`);
  }
}

/** Ends a transaction, which SQLite may have ended by itself. */
export function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // Nothing is open any more, which is what was wanted.
  }
}

/** With a write-ahead log readers and the writer do not keep each other waiting. A mode that was chosen stays. */
function preferWal(database: SqliteDatabase, schema: string): void {
  try {
    impatiently(database, () => {
      const isPreset = setting(database, `${schema}.journal_mode`) === 'delete';
      if (isPreset) database.exec(`PRAGMA ${schema}.journal_mode = WAL`);
    });
  } catch {
    // It needs a moment in which nobody else has the file open in a transaction. Claims are right without it too.
  }
}

function unavailable(cause: unknown, waitedMs: number): FactuareaWebhookError {
  const message = isLocked(cause)
    ? `SQLite stayed locked for ${Math.round(waitedMs)} ms: another connection is writing to the file. Keep write transactions short.`
    : isInUse(cause)
      ? 'Other code has left a transaction or a query open on the store’s connection. Give the store one of its own.'
      : `SQLite refused: ${messageOf(cause)}.`;
  return new FactuareaWebhookError('store_unavailable', message, { cause });
}
