import { inBatches, type PrunePlan, type StoreStats } from '@factuarea-webhook/core/store-kit';
import type { PgPool, Result } from './client.ts';
import { askOnce, connect } from './connections.ts';
import { unavailable } from './failures.ts';
import { alone, interval } from './sql.ts';
import type { Table } from './table.ts';

export type Mode = 'transaction' | 'lease';

// Upkeep may take its time, as nobody waits for an answer.
const UPKEEP_MS = 30_000;
// Any number that nobody else is likely to lock.
const MIGRATION_LOCK = 0x66616374;

/** The DDL of a table for the mode. */
export function schemaOf({ name, index }: Table, mode: Mode): string {
  const columns =
    mode === 'transaction'
      ? 'event_id varchar(255) COLLATE "C" PRIMARY KEY, received_at timestamptz NOT NULL'
      : `event_id varchar(255) COLLATE "C" PRIMARY KEY, received_at timestamptz NOT NULL, until timestamptz NOT NULL,
  done boolean NOT NULL, fence bigint NOT NULL, token uuid`;
  // Room on each page for the new version of a row, so that settling touches no index.
  const options = mode === 'lease' ? ' WITH (fillfactor = 70)' : '';
  return `CREATE TABLE IF NOT EXISTS ${name} (\n  ${columns}\n)${options};\nCREATE INDEX IF NOT EXISTS ${index} ON ${name} (received_at);\n`;
}

/** Makes what is missing of the table and its index, and checks what is there. */
export async function migrate(pool: PgPool, table: Table, mode: Mode): Promise<void> {
  const connection = await connect(pool, UPKEEP_MS).catch((error: unknown) => {
    throw unavailable(error, table.name);
  });
  const ask = (sql: string): Promise<readonly Result[]> => connection.ask(sql, UPKEEP_MS);
  const here = `to_regclass('${table.name}')`;
  try {
    // IF NOT EXISTS does not keep two sessions from making the same table at once, so they take turns.
    const found = await ask(`BEGIN; SET LOCAL statement_timeout = ${UPKEEP_MS};
SELECT pg_advisory_xact_lock(${MIGRATION_LOCK});
SELECT ${here}::text AS table, (SELECT count(*) FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid
  AND a.attnum = i.indkey[0] WHERE i.indrelid = ${here} AND a.attname = 'received_at')::text AS indexes`);
    const { table: existing, indexes } = found.at(-1)?.rows[0] ?? {};
    if (!existing) await ask(schemaOf(table, mode));
    else if (indexes === '0') await ask(`CREATE INDEX ON ${table.name} (received_at)`);
    await table.inspect(ask);
    await ask('COMMIT');
    connection.giveBack();
  } catch (error) {
    void connection.destroy();
    throw unavailable(error, table.name);
  }
}

// A commit that waits for no disk, since a pruning lost in a crash is done again. And a plan that follows the index,
// also where Postgres has not counted the table yet: it would sort all of it for each batch.
const PRUNING = `SET LOCAL synchronous_commit = off; SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off`;

/** Deletes old ids, the oldest first, in batches that pass over rows which another pruning has locked. */
export async function prune(pool: PgPool, { name }: Table, mode: Mode, plan: PrunePlan): Promise<number> {
  // CURRENT_TIMESTAMP stands still within a statement, so that an index can be searched with it.
  const limit =
    plan.before === undefined ? `CURRENT_TIMESTAMP - ${interval(plan.ageMs)}` : `to_timestamp(${plan.before / 1000})`;
  // A live lease stays whatever `olderThan` says.
  const ended = mode === 'lease' ? ` AND until < ${limit} AND (done OR until < clock_timestamp())` : '';
  const old = `received_at < ${limit}${ended}`;
  let from = '';
  return inBatches(async () => {
    // Begun where the last batch ended, so that no batch wades through what the earlier ones deleted. By place, which
    // costs no search; in a partitioned table other rows have the same places, so the age is asked for again. IS TRUE
    // keeps that from being searched for instead of the places.
    const statement = `${PRUNING}; WITH gone AS (
  DELETE FROM ${name} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${name} WHERE ${old}${from} ORDER BY received_at LIMIT ${plan.batchSize} FOR UPDATE SKIP LOCKED
  )) AND (${old}) IS TRUE RETURNING received_at
)
SELECT count(*)::text AS count, max(received_at)::text AS last FROM gone`;
    const results = await run(pool, name, statement);
    const { count, last } = results.at(-2)?.rows[0] ?? {};
    if (last) from = ` AND received_at >= '${last}'`;
    return Number(count);
  }, plan);
}

/** Deletes one id. `timeoutMs` is for the look at the table that an id may need. */
export async function forget(pool: PgPool, table: Table, mode: Mode, id: string, timeoutMs: number): Promise<boolean> {
  const { name } = table;
  const column = await table
    .idOf(id, (sql) => askOnce(pool, sql, timeoutMs))
    .catch((error: unknown) => {
      throw unavailable(error, name);
    });
  // A released row is only kept for its fence.
  const known = mode === 'lease' ? 'done OR token IS NOT NULL' : 'true';
  const statement = `DELETE FROM ${name} WHERE event_id = ${column} RETURNING (${known})::text AS known`;
  return (await run(pool, name, statement)).at(-2)?.rows[0]?.['known'] === 'true';
}

/** Counts the ids that are done. Reads the whole table. */
export async function stats(pool: PgPool, { name }: Table, mode: Mode): Promise<StoreStats> {
  const [at, done] = mode === 'lease' ? ['until', 'WHERE done'] : ['received_at', ''];
  const results = await run(
    pool,
    name,
    `SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*)::text AS count,
  extract(epoch FROM min(at))::text AS oldest, extract(epoch FROM max(at))::text AS newest
FROM (SELECT ${at}::timestamptz AS at FROM ${name} ${done}) AS ids GROUP BY 1 ORDER BY 1`,
  );
  const days = results.at(-2)?.rows ?? [];
  const date = (seconds: string | null | undefined): Date | undefined =>
    seconds ? new Date(Number(seconds) * 1000) : undefined;
  return {
    count: days.reduce((sum, { count }) => sum + Number(count), 0),
    oldest: date(days[0]?.['oldest']),
    newest: date(days.at(-1)?.['newest']),
    byDay: Object.fromEntries(days.map(({ day, count }) => [day, Number(count)])),
  };
}

async function run(pool: PgPool, table: string, statement: string): Promise<readonly Result[]> {
  try {
    return await askOnce(pool, alone(statement, UPKEEP_MS), UPKEEP_MS);
  } catch (error) {
    throw unavailable(error, table);
  }
}
