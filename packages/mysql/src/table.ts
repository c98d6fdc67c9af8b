import { quoteName, splitName } from '@factuarea-webhook/core/store-kit';
import type { Result } from './client.ts';
import { storeUnavailable } from './failures.ts';
import { hex, text } from './sql.ts';

export type Mode = 'transaction' | 'lease';

/** The table as SQL writes it, and what its columns can hold. */
export interface Table {
  /** Quoted. */
  readonly name: string;
  /** An expression of 64 characters that names `id` in this table among all the server's locks. */
  lockOf(id: string): string;
  /** @throws `store_unavailable` where the column cannot hold the id as it stands. */
  check(id: string, ask: Ask): Promise<void>;
  /** Reads the columns anew. */
  inspect(ask: Ask): Promise<void>;
  /** How to make `event_id` hold every id. */
  readonly mend: string;
}

/** Sends one statement and gives what came back. */
export type Ask = (sql: string) => Promise<Result>;

interface Column {
  readonly type: string;
  /** In characters, or in bytes where the type is binary. */
  readonly length: number;
  readonly collation: string;
}

/** @throws `config_error` where `name` is no table name. */
export function tableOf(name: string, mode: Mode): Table {
  const parts = splitName('table', name);
  const quoted = quoteName(parts, '`');
  const schema = parts.length === 2 ? text(parts[0] as string) : 'DATABASE()';
  const tableHex = hex(parts.at(-1) as string);
  const mend = `ALTER TABLE ${quoted} MODIFY event_id ${ID_TYPE} NOT NULL`;
  let known: Column | undefined;

  async function inspect(ask: Ask): Promise<void> {
    const columns = (await ask(`SHOW FULL COLUMNS FROM ${quoted}`)).rows.map(
      ([field, type, collation]) => [String(field), String(type), String(collation)] as const,
    );
    const found = (column: string): boolean => columns.some(([field]) => field === column);
    for (const column of ['event_id', 'received_at', ...(mode === 'lease' ? leaseColumns : [])]) {
      if (found(column)) continue;
      throw storeUnavailable(
        `${quoted} has no column \`${column}\`, which mode '${mode}' needs. Give this store a table of its own and run \`await store.migrate()\`.`,
      );
    }
    if (mode === 'transaction' && leaseColumns.every(found)) {
      // A lease that has run out would be taken for a repeat.
      throw storeUnavailable(`${quoted} holds leases. Give mode 'transaction' a table of its own.`);
    }
    const [, type = '', collation = ''] = columns.find(([field]) => field === 'event_id') ?? [];
    const [, base = '', length] = /^(\w+)(?:\((\d+)\))?/.exec(type.toLowerCase()) ?? [];
    known = { type: base, length: Number(length ?? Number.POSITIVE_INFINITY), collation };
  }

  async function check(id: string, ask: Ask): Promise<void> {
    if (!known) await inspect(ask);
    // The column may have been changed since it was looked at.
    else if (misfit(id, known, mode)) await inspect(ask);
    const why = misfit(id, known as Column, mode);
    if (!why) return;
    throw storeUnavailable(
      `${quoted} cannot hold this id: \`event_id\` ${why}. Ids are case-sensitive texts of up to 255 characters: ${mend};`,
    );
  }

  return {
    name: quoted,
    lockOf: (id) => `SHA2(CONCAT(CAST(${schema} AS BINARY), X'00${tableHex}00${hex(id)}'), 256)`,
    check,
    inspect,
    mend,
  };
}

/** The type of `event_id` in the tables that are made here. */
export const ID_TYPE = 'VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

const leaseColumns = ['until', 'done', 'fence', 'token'];

/**
 * Why the column would cut, change or refuse this id; undefined where it holds it. That it takes another id for the
 * same is seen when they meet: most tables fold case, which is nothing to ids that differ by more.
 */
function misfit(id: string, { type, length, collation }: Column, mode: Mode): string | undefined {
  const binary = type === 'varbinary';
  if (!binary && !/^(var)?char$/.test(type) && !(type === 'uuid' && mode === 'transaction'))
    return `is of type ${type}`;
  if (type === 'uuid') {
    return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? undefined : 'is a UUID, which folds or refuses it';
  }
  if (mode === 'lease' && !binary && !collation.endsWith('_bin')) return 'folds case: it needs a binary collation';
  // The server keeps to this where `sql_mode` is strict, and cuts silently where it is not.
  if ((binary ? new TextEncoder().encode(id).length : [...id].length) > length) return `holds ${length} characters`;
  if (!binary && !collation.startsWith('utf8mb4') && /[^\0-\x7f]/.test(id)) return 'does not hold every character';
  return !binary && id.endsWith(' ') ? 'ignores blanks at the end' : undefined;
}
