import { inBatches, type PrunePlan, type StoreStats } from '@factuarea-webhook/core/store-kit';
import type { MysqlPool } from './client.ts';
import { work } from './connections.ts';
import { errorNumber, storeUnavailable, unavailable } from './failures.ts';
import { CLOCK, rowOf } from './sql.ts';
import { type Ask, ID_TYPE, type Mode, type Table } from './table.ts';

// Upkeep may take its time, as nobody waits for an answer.
const UPKEEP_MS = 30_000;
// A batch takes milliseconds; whoever waits this long leaves the pruning to the others.
const TURN_SECONDS = 10;
const INDEX_EXISTS = 1061;
const DAY_MICROSECONDS = 86_400_000_000;

async function run<Value>(pool: MysqlPool, { name }: Table, use: (ask: Ask) => Promise<Value>): Promise<Value> {
  try {
    return await work(pool, UPKEEP_MS, use);
  } catch (error) {
    throw unavailable(error, name);
  }
}

/** The DDL of a table for the mode. */
export function schemaOf({ name }: Table, mode: Mode): string {
  const columns =
    mode === 'transaction'
      ? ['received_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP']
      : [
          'received_at DATETIME(6) NOT NULL',
          'until DATETIME(6) NOT NULL',
          'done BOOLEAN NOT NULL',
          'fence BIGINT NOT NULL',
          'token CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL',
        ];
  const lines = [`event_id ${ID_TYPE} NOT NULL PRIMARY KEY`, ...columns, 'KEY received_at (received_at)'];
  return `CREATE TABLE IF NOT EXISTS ${name} (\n  ${lines.join(',\n  ')}\n) ENGINE=InnoDB;\n`;
}

/** Makes what is missing of the table and its index, and checks what is there. */
export async function migrate(pool: MysqlPool, table: Table, mode: Mode): Promise<void> {
  await run(pool, table, async (ask) => {
    await ask(schemaOf(table, mode));
    // The fifth value names the column.
    const { rows } = await ask(`SHOW INDEX FROM ${table.name} WHERE Seq_in_index = 1`);
    if (!rows.some((row) => row[4] === 'received_at')) {
      await ask(`CREATE INDEX received_at ON ${table.name} (received_at)`).catch((error: unknown) => {
        // Another process made it in between.
        if (errorNumber(error) !== INDEX_EXISTS) throw error;
      });
    }
    await table.inspect(ask);
  });
}

/** Deletes old ids, the oldest first, in batches that pass over rows which somebody has locked. */
export async function prune(pool: MysqlPool, table: Table, mode: Mode, plan: PrunePlan): Promise<number> {
  const { name } = table;
  const old = mode === 'lease' ? oldLease(plan) : oldRow(plan);
  // No event's, since ids are not empty.
  const lock = table.lockOf('');
  const byAge = await run(pool, table, (ask) => forceIndex(ask, name, 'received_at'));
  const byId = await run(pool, table, (ask) => forceIndex(ask, name, 'event_id'));
  const batch = async (ask: Ask): Promise<number> => {
    // Batches take turns: two at once lock the same rows in different orders, which ends one of them as a deadlock.
    const { rows: turn } = await ask(`SELECT GET_LOCK(${lock}, ${TURN_SECONDS})`);
    if (Number(turn[0]?.[0]) !== 1) return 0;
    // Without locks on the gaps between rows, which would keep new ids waiting.
    await ask('SET TRANSACTION ISOLATION LEVEL READ COMMITTED');
    await ask('START TRANSACTION');
    // Joined, so that each id is looked up by itself: a list of ids is read as ranges, and a range locks the row behind
    // its end as well, which may be of an event that is being handled.
    const deleted = await ask(`DELETE old FROM (
  SELECT event_id FROM ${name}${byAge} WHERE ${old} ORDER BY received_at LIMIT ${plan.batchSize} FOR UPDATE SKIP LOCKED
) AS gone STRAIGHT_JOIN ${name} AS old${byId} ON old.event_id = gone.event_id`);
    await ask('COMMIT');
    await ask(`DO RELEASE_LOCK(${lock})`);
    return deleted.affected;
  };
  return inBatches(() => run(pool, table, batch), plan);
}

/**
 * Names the index of a column, where there is one. A small table would be read as a whole, and a statement that locks
 * waits for every row that it passes: for those of events that are being handled.
 */
async function forceIndex(ask: Ask, name: string, column: string): Promise<string> {
  const { rows } = await ask(`SHOW INDEX FROM ${name} WHERE Seq_in_index = 1 AND Column_name = '${column}'`);
  const index = rows[0]?.[2];
  return typeof index === 'string' ? ` FORCE INDEX (\`${index.replaceAll('`', '``')}\`)` : '';
}

/** `received_at` is in the session's time zone, as the guide's TIMESTAMP is. */
function oldRow({ before, ageMs }: PrunePlan): string {
  // Capped, since some servers know no UNIX time after 2038 and would answer NULL.
  const limit =
    before === undefined ? `UNIX_TIMESTAMP() - ${ageMs / 1000}` : `LEAST(${before / 1000}, UNIX_TIMESTAMP() + 1)`;
  return `received_at < FROM_UNIXTIME(${limit})`;
}

/** All is in UTC. A live lease stays whatever `olderThan` says. */
function oldLease({ before, ageMs }: PrunePlan): string {
  const limit =
    before === undefined
      ? `UTC_TIMESTAMP(6) - INTERVAL ${Math.ceil(ageMs)} * 1000 MICROSECOND`
      : `'1970-01-01' + INTERVAL ${before} * 1000 MICROSECOND`;
  return `received_at < ${limit} AND until < ${limit} AND (done = 1 OR until < UTC_TIMESTAMP(6))`;
}

/** Forgets one id. Its row is deleted, or stays for its fence where leases are held. */
export async function forget(pool: MysqlPool, table: Table, mode: Mode, id: string): Promise<boolean> {
  const { at, exactly } = rowOf(id);
  return run(pool, table, async (ask) => {
    await table.check(id, ask);
    if (mode === 'lease') {
      const { affected } = await ask(
        `UPDATE ${table.name} SET token = '', done = 0, until = UTC_TIMESTAMP(6) WHERE ${at} AND token <> ''`,
      );
      return affected > 0;
    }
    const lock = table.lockOf(id);
    // A moment, since a claim that has just been marked may still be giving its lock back.
    const { rows } = await ask(`SELECT GET_LOCK(${lock}, 1)`);
    if (Number(rows[0]?.[0]) !== 1) {
      throw storeUnavailable('This event is being handled right now. Forget it once its handler has ended.');
    }
    const { affected } = await ask(`DELETE FROM ${table.name} WHERE ${exactly}`);
    await ask('COMMIT');
    await ask(`DO RELEASE_LOCK(${lock})`);
    return affected > 0;
  });
}

/** Counts the ids that are done. Reads the whole table. */
export async function stats(pool: MysqlPool, table: Table, mode: Mode): Promise<StoreStats> {
  const at =
    mode === 'lease'
      ? CLOCK.replace('UTC_TIMESTAMP(6)', 'until')
      : 'CAST(UNIX_TIMESTAMP(received_at) * 1000000 AS SIGNED)';
  const { rows } = await run(pool, table, async (ask) => {
    return ask(`SELECT at DIV ${DAY_MICROSECONDS} AS day, COUNT(*), MIN(at), MAX(at)
FROM (SELECT ${at} AS at FROM ${table.name}${mode === 'lease' ? ' WHERE done = 1' : ''}) AS ids GROUP BY day ORDER BY day`);
  });
  const days = rows.map((row) => row.map(Number) as [day: number, count: number, oldest: number, newest: number]);
  const date = (microseconds: number | undefined): Date | undefined =>
    microseconds === undefined ? undefined : new Date(microseconds / 1000);
  return {
    count: days.reduce((sum, [, count]) => sum + count, 0),
    oldest: date(days[0]?.[2]),
    newest: date(days.at(-1)?.[3]),
    byDay: Object.fromEntries(
      days.map(([day, count]) => [new Date((day * DAY_MICROSECONDS) / 1000).toISOString().slice(0, 10), count]),
    ),
  };
}
