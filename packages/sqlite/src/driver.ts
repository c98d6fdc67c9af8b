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

const statements = new WeakMap<SqliteDatabase, Map<string, SqliteStatement>>();

/** Prepares a statement once per connection: SQLite takes longer to read it than to run it. */
export function prepared(database: SqliteDatabase, sql: string): SqliteStatement {
  const known = statements.get(database) ?? new Map<string, SqliteStatement>();
  statements.set(database, known);
  const statement = known.get(sql) ?? database.prepare(sql);
  known.set(sql, statement);
  return statement;
}

/** Gives the row of a question that has one at most. */
export function first(database: SqliteDatabase, sql: string, ...values: (string | number)[]): Row | undefined {
  return prepared(database, sql).all(...values)[0] as Row | undefined;
}

/** Asks for a setting. Prepared anew each time: SQLite answers when it reads the question, not when it is run. */
export function setting(database: SqliteDatabase, name: string): number | bigint | string | null | undefined {
  const row = database.prepare(`PRAGMA ${name}`).all()[0] as Row | undefined;
  return row && Object.values(row)[0];
}

/** Columns by name. A driver may have been told to give whole numbers as bigints, so they go through `Number`. */
export type Row = Readonly<Record<string, number | bigint | string | null>>;

/** Whether another connection holds the lock that was asked for. */
export function isLocked(error: unknown): boolean {
  // Each driver has a `code` of its own; the text is SQLite's, and the same in all of them.
  return /\b(?:database|table|schema)\b.* is locked/.test(messageOf(error));
}

/** Whether other code is in the middle of something on this very connection: a transaction, or a query read by rows. */
export function isInUse(error: unknown): boolean {
  return /(?:within|inside) a transaction|statements in progress|busy executing a query/.test(messageOf(error));
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
