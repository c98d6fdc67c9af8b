import { FactuareaWebhookError } from '@factuarea-webhook/core';

/** The five characters by which Postgres names an error; undefined where it was not Postgres that failed. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  // Each has a digit, unlike EPIPE.
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** The connection is of no more use: it broke, or Postgres ended it (57P0x: shutting down, restarting, timed out). */
export function isBroken(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || /^(08|57P0)/.test(state) || state === '25P03';
}

/** Turns what a call rejected with into an error that says what to do. */
export function unavailable(error: unknown, table: string): FactuareaWebhookError {
  if ((error as { code?: unknown } | null | undefined)?.code === 'store_unavailable') return error as never;
  const state = sqlState(error) ?? '';
  const fix = fixes[state] ?? fixes[state.slice(0, 2)] ?? fixes[''];
  return storeUnavailable((fix as string).replaceAll('TABLE', table), error);
}

export function storeUnavailable(message: string, cause?: unknown): FactuareaWebhookError {
  return new FactuareaWebhookError('store_unavailable', message, cause === undefined ? {} : { cause });
}

const fixes: Readonly<Record<string, string>> = {
  '': 'Postgres could not be reached, or the connection broke. Nothing was handled; the event is sent again.',
  '22': 'The id does not fit into `event_id` of TABLE. Make it wider: ALTER TABLE TABLE ALTER COLUMN event_id TYPE varchar(255);',
  '23502': 'TABLE has a further column that is NOT NULL and has no default. Give it one.',
  '25006': 'This connection can only read: it leads to a standby. Use the address of the primary.',
  '28': 'Postgres refused the login. Check the user and the password of the pool.',
  '3F000': 'The schema of TABLE does not exist. Create it, or correct the option `table`.',
  '40': 'Another transaction was in the way. Nothing was handled; the event is sent again.',
  '42501': 'The role may not use TABLE. It needs: GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE TO it.',
  '42P01': 'There is no table TABLE. Run `await store.migrate()` once, or the DDL in `store.schema`.',
  '42P10': '`event_id` of TABLE is not unique. Make it so: ALTER TABLE TABLE ADD PRIMARY KEY (event_id);',
  '53': 'Postgres has run out of connections or memory. Look at `max_connections` and the pools’ `max`.',
  '55P03': 'Another session holds a lock on TABLE or on this id. Nothing was handled; the event is sent again.',
  '57014':
    'Another session holds a lock on TABLE or on this id, such as a migration or a copy that is handled without this store. Nothing was handled; the event is sent again.',
};
