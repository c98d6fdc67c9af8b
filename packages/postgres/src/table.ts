import { quoteName, splitName } from '@factuarea-webhook/core/store-kit';
import { type Result, resultsOf } from './client.ts';
import { storeUnavailable } from './failures.ts';
import { text } from './sql.ts';

/** The table as SQL writes it, and what its columns can hold. */
export interface Table {
  /** Quoted. */
  readonly name: string;
  /** An expression of type `regclass`, which is the same table whatever name it was given by. */
  readonly regclass: string;
  /** The name for an index that `schema` makes. */
  readonly index: string;
  /**
   * Gives `id` as an SQL expression of the column's type.
   *
   * @throws `store_unavailable` where the column cannot hold the id as it stands.
   */
  idOf(id: string, ask: Ask): Promise<string>;
  /** Reads the columns anew. */
  inspect(ask: Ask): Promise<void>;
}

/** Sends one message and gives what came back. */
export type Ask = (sql: string) => Promise<readonly Result[]>;

interface Column {
  readonly type: string;
  /** In characters; 0 for any number. */
  readonly length: number;
  /** False where the column takes different texts for equal. */
  readonly exact: boolean;
}

const leaseColumns = ['until', 'done', 'fence', 'token'];

/** @throws `config_error` where `name` is no table name. */
export function tableOf(name: string, mode: 'transaction' | 'lease'): Table {
  const parts = splitName('table', name);
  const quoted = quoteName(parts);
  // No quote and no backslash can be in it, by what names are made of.
  const regclass = `'${quoted}'::regclass`;
  let known: Column | undefined;

  async function inspect(ask: Ask): Promise<void> {
    // A domain stands for the type that it is based on.
    const columns = resultsOf(
      await ask(
        `SELECT a.attname::text AS name, coalesce(b.typname, t.typname)::text AS type,
          (CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END)::text AS modifier,
          coalesce(c.collisdeterministic, true)::text AS exact
        FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type b ON b.oid = t.typbasetype
          LEFT JOIN pg_collation c ON c.oid = a.attcollation
        WHERE a.attrelid = ${regclass} AND a.attnum > 0 AND NOT a.attisdropped`,
      ),
    )[0]?.rows;
    const found = (column: string): boolean => columns?.some((one) => one['name'] === column) ?? false;
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
    const id = columns?.find((one) => one['name'] === 'event_id');
    known = {
      type: id?.['type'] ?? '',
      // A length is kept with the four bytes of its header.
      length: Math.max(Number(id?.['modifier']) - 4, 0),
      exact: id?.['exact'] === 'true',
    };
  }

  async function idOf(id: string, ask: Ask): Promise<string> {
    if (!known) await inspect(ask);
    // The column may have been changed since it was looked at.
    else if (misfit(id, known)) await inspect(ask);
    const column = known as Column;
    const why = misfit(id, column);
    if (!why) return `${text(id)}::${casts[column.type]}`;
    throw storeUnavailable(
      `${quoted} cannot hold this id: \`event_id\` ${why}. Ids are case-sensitive texts of up to 255 characters: ` +
        `ALTER TABLE ${quoted} ALTER COLUMN event_id TYPE varchar(255) COLLATE "C";`,
    );
  }

  return { name: quoted, regclass, index: `"${`${parts.at(-1)}`.slice(0, 40)}_received_at_idx"`, idOf, inspect };
}

// No length in the casts, since a cast to one cuts silently.
const casts: Readonly<Record<string, string>> = { uuid: 'uuid', bpchar: 'bpchar', text: 'text', varchar: 'text' };

/** Why the column would merge this id with another, or refuse it; undefined where it holds it exactly. */
function misfit(id: string, { type, length, exact }: Column): string | undefined {
  if (!Object.hasOwn(casts, type)) return `is of type ${type}`;
  if (!exact) return 'compares by a collation that takes different texts for equal';
  if (type === 'uuid') {
    return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? undefined : 'is a uuid, which folds or refuses it';
  }
  if (length > 0 && [...id].length > length) return `holds ${length} characters`;
  // CHAR(n) pads with blanks and ignores them when it compares.
  return type === 'bpchar' && id.endsWith(' ') ? 'is a CHAR, which drops blanks at the end' : undefined;
}
