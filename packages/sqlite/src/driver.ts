/** What is used of a prepared statement. */
export interface SqliteStatement {
  run(...values: (string | number)[]): {
    readonly changes: number | bigint;
    readonly lastInsertRowid: number | bigint;
  };
  all(...values: (string | number)[]): unknown[];
}

/** What is used of a database: that of `node:sqlite`, `better-sqlite3` and `libsql` as it is. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
  close(): unknown;
}

/** Gives the one row of a question that has one at most. */
export function first(database: SqliteDatabase, sql: string, ...values: (string | number)[]): Row | undefined {
  return database.prepare(sql).all(...values)[0] as Row | undefined;
}

/** Columns by name. A driver may have been told to give whole numbers as bigints, so they go through `Number`. */
export type Row = Readonly<Record<string, number | bigint | string | null>>;

/** Whether another connection holds the lock that was asked for. */
export function isLocked(error: unknown): boolean {
  // Each driver has a `code` of its own; the text is SQLite's, and the same in all of them.
  return /\b(?:database|table|schema)\b.* is locked/.test(messageOf(error));
}

/** Whether other code has opened a transaction on this very connection and not ended it yet. */
export function isInsideTransaction(error: unknown): boolean {
  return /(?:within|inside) a transaction/.test(messageOf(error));
}

/** Whether there is no transaction to be ended: SQLite has rolled it back by itself, or other code has ended it. */
export function isOutsideTransaction(error: unknown): boolean {
  return /no transaction is active/.test(messageOf(error));
}

/** Whether a rule of the schema forbids the commit, such as a foreign key that is checked at the end. */
export function isConstraint(error: unknown): boolean {
  return /constraint failed/.test(messageOf(error));
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
