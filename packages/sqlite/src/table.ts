import { type PrunePlan, quoteName, splitName } from '@factuarea-webhook/core/store-kit';
import { first, prepared, type Row, type SqliteDatabase } from './driver.ts';

/**
 * SQLite's own clock in Unix milliseconds. `unixepoch('subsec')` would say the same, from SQLite 3.42 on only.
 * It stands still within a statement.
 */
const NOW = "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)";

/** How an id stands: done, held by somebody for so long, or free. */
export type Standing =
  | { readonly state: 'done' }
  | { readonly state: 'busy'; readonly retryAfterMs: number }
  | undefined;

/** The store's table, and every statement on it. Each is one call on a connection, and none opens a transaction. */
export interface Table {
  /** The database that the table is in, quoted: `"main"`, or what it was attached as. */
  readonly schema: string;
  readonly ddl: string;
  exists(database: SqliteDatabase): boolean;
  standing(database: SqliteDatabase, id: string): Standing;
  /** Takes an id that is free, and gives the fence. */
  lease(database: SqliteDatabase, id: string, token: string, leaseMs: number): number;
  /** Takes an id that is free and marks it, to be committed with what the handler writes. Gives the fence. */
  mark(database: SqliteDatabase, id: string, token: string): number;
  isMarked(database: SqliteDatabase, fence: number, token: string): boolean;
  finish(database: SqliteDatabase, fence: number, token: string): boolean;
  release(database: SqliteDatabase, fence: number, token: string): boolean;
  extend(database: SqliteDatabase, fence: number, token: string, leaseMs: number): boolean;
  forget(database: SqliteDatabase, id: string): boolean;
  /** Deletes one batch and gives its size. */
  prune(database: SqliteDatabase, plan: PrunePlan): number;
  /** Ids done per day in UTC, with the first and the last moment of each in Unix milliseconds. */
  days(database: SqliteDatabase): Row[];
}

/** @throws `config_error` for a name that cannot be one. */
export function eventTable(name: string): Table {
  const parts = splitName('table', name);
  const [schema, bare] = parts.length === 2 ? (parts as [string, string]) : ['main', ...(parts as [string])];
  const table = quoteName([schema, bare]);
  const age = `coalesce("done_at", "leased_until")`;

  /** A claim is known by both: the token keeps it apart from that of a table made anew, whose numbers start again. */
  const own = '"fence" = ? AND "token" = ?';

  function changed(database: SqliteDatabase, sql: string, ...values: (string | number)[]): boolean {
    return Number(prepared(database, sql).run(...values).changes) > 0;
  }

  return {
    schema: quoteName([schema]),
    // AUTOINCREMENT never gives a number twice, also after the row with the largest is gone: so the fence grows on when
    // an id has been released, pruned or forgotten. Ids are compared byte by byte, and TEXT leaves `007` what it is.
    ddl: `CREATE TABLE IF NOT EXISTS ${table} (
  "fence" INTEGER PRIMARY KEY AUTOINCREMENT,
  "event_id" TEXT COLLATE BINARY NOT NULL UNIQUE,
  "token" TEXT NOT NULL,
  "leased_until" INTEGER NOT NULL, -- Unix milliseconds, as is done_at
  "done_at" INTEGER
);
CREATE INDEX IF NOT EXISTS ${quoteName([schema, `${bare}_age`])} ON ${quoteName([bare])} (${age});
`,
    exists: (database) =>
      first(
        database,
        `SELECT 1 FROM ${quoteName([schema])}.sqlite_master WHERE type = 'table' AND lower(name) = lower(?)`,
        bare,
      ) !== undefined,
    standing(database, id) {
      const row = first(
        database,
        `SELECT "done_at" IS NOT NULL AS "done", "leased_until" - ${NOW} AS "left" FROM ${table} WHERE "event_id" = ?`,
        id,
      );
      if (row?.['done']) return { state: 'done' };
      const left = Number(row?.['left'] ?? 0);
      return left > 0 ? { state: 'busy', retryAfterMs: left } : undefined;
    },
    lease(database, id, token, leaseMs) {
      // REPLACE, so that a takeover is a new row with a new fence, and the old owner's is gone.
      const sql = `INSERT OR REPLACE INTO ${table} ("event_id", "token", "leased_until")
        VALUES (?, ?, ${NOW} + CAST(? AS INTEGER))`;
      return Number(prepared(database, sql).run(id, token, leaseMs).lastInsertRowid);
    },
    mark(database, id, token) {
      // A rollback takes back the number that AUTOINCREMENT gave, so the clock leads here.
      const last = `SELECT "seq" FROM ${quoteName([schema])}.sqlite_sequence WHERE "name" = '${bare}'`;
      const sql = `INSERT OR REPLACE INTO ${table} ("fence", "event_id", "token", "leased_until", "done_at")
        VALUES (max(${NOW}, coalesce((${last}), 0) + 1), ?, ?, ${NOW}, ${NOW})`;
      return Number(prepared(database, sql).run(id, token).lastInsertRowid);
    },
    isMarked: (database, fence, token) =>
      first(database, `SELECT 1 FROM ${table} WHERE ${own}`, fence, token) !== undefined,
    finish: (database, fence, token) =>
      changed(database, `UPDATE ${table} SET "done_at" = coalesce("done_at", ${NOW}) WHERE ${own}`, fence, token),
    release: (database, fence, token) =>
      changed(database, `DELETE FROM ${table} WHERE ${own} AND "done_at" IS NULL`, fence, token),
    extend(database, fence, token, leaseMs) {
      const until = `${NOW} + CAST(? AS INTEGER)`;
      const sql = `UPDATE ${table} SET "leased_until" = ${until} WHERE ${own} AND "done_at" IS NULL`;
      return changed(database, sql, leaseMs, fence, token);
    },
    forget: (database, id) => changed(database, `DELETE FROM ${table} WHERE "event_id" = ?`, id),
    prune(database, { before, ageMs, batchSize }) {
      // Never past now: so a lease that still runs stays, whatever moment was given. One that ran out long ago goes.
      const cutoff = before === undefined ? `${NOW} - ?` : `min(?, ${NOW})`;
      const sql = `DELETE FROM ${table} WHERE "fence" IN (SELECT "fence" FROM ${table} WHERE ${age} < ${cutoff} LIMIT ?)`;
      return Number(prepared(database, sql).run(before ?? ageMs, batchSize).changes);
    },
    days(database) {
      const sql = `SELECT date("done_at" / 1000, 'unixepoch') AS "day", count(*) AS "count",
          min("done_at") AS "first", max("done_at") AS "last"
        FROM ${table} WHERE "done_at" IS NOT NULL GROUP BY 1 ORDER BY 1`;
      return prepared(database, sql).all() as Row[];
    },
  };
}
