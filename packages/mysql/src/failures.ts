import { FactuareaWebhookError } from '@factuarea-webhook/core';

/** The number by which the server names an error; undefined where it was not the server that failed. */
export function errorNumber(error: unknown): number | undefined {
  const number = (error as { errno?: unknown } | null | undefined)?.errno;
  // Those of the operating system are below 0.
  return typeof number === 'number' && number >= 1000 ? number : undefined;
}

export const DUPLICATE = 1062;
export const NO_SAVEPOINT = 1305;

/** Another transaction was in the way: a lock that did not come in time, or a deadlock. A retry can succeed. */
export function isConflict(error: unknown): boolean {
  return [1205, 1213].includes(errorNumber(error) ?? 0);
}

// Shutting down, or ended by an administrator or for having been idle; or led to a server that only reads now.
const gone = [1053, 1077, 1079, 1927, 3032, 3168, 4031, 1290, 1792, 1836];

/** The connection is of no more use. */
export function isBroken(error: unknown): boolean {
  const number = errorNumber(error);
  return number === undefined || gone.includes(number);
}

/** Turns what a call rejected with into an error that says what to do. */
export function unavailable(error: unknown, table: string): FactuareaWebhookError {
  if ((error as { code?: unknown } | null | undefined)?.code === 'store_unavailable') return error as never;
  const fix = fixes[errorNumber(error) ?? 0] ?? 'The server refused: look at the cause. The event is sent again.';
  return storeUnavailable(fix.replaceAll('TABLE', table), error);
}

export function storeUnavailable(message: string, cause?: unknown): FactuareaWebhookError {
  return new FactuareaWebhookError('store_unavailable', message, cause === undefined ? {} : { cause });
}

const readOnly = 'This server can only read: it is a replica, or was made one. Use the address of the primary.';
const full = 'The server has run out of connections. Look at `max_connections` and the pools’ `connectionLimit`.';
const noAccess = 'The user may not use TABLE. It needs: GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE TO it.';

const fixes: Readonly<Record<number, string>> = {
  0: 'The database could not be reached, or the connection broke. Nothing was handled; the event is sent again.',
  1040: full,
  1044: noAccess,
  1045: 'The database refused the login. Check the user and the password of the pool.',
  1046: 'The pool has no database selected. Give it one, or write the option `table` as `schema.table`.',
  1049: 'The database of the pool or of TABLE does not exist.',
  1114: 'The disk or TABLE is full.',
  1142: noAccess,
  1146: 'There is no table TABLE. Run `await store.migrate()` once, or the DDL in `store.schema`.',
  1203: full,
  1205: 'Another transaction holds a lock on TABLE. Nothing was handled; the event is sent again.',
  1213: 'Another transaction was in the way. Nothing was handled; the event is sent again.',
  1226: full,
  1290: readOnly,
  1364: 'TABLE has a further column that is NOT NULL and has no default. Give it one.',
  1792: readOnly,
  1836: readOnly,
};
