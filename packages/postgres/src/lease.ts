import type { ClaimOptions } from '@factuarea-webhook/core';
import { type Ask, busy, newToken, sharing } from '@factuarea-webhook/core/store-kit';
import type { PgPool, Result } from './client.ts';
import { askOnce } from './connections.ts';
import { unavailable } from './failures.ts';
import { alone, interval } from './sql.ts';
import type { Table } from './table.ts';

/** What claiming in mode `lease` needs to know. */
export interface LeaseSettings {
  readonly pool: PgPool;
  readonly table: Table;
  readonly timeoutOf: (options: ClaimOptions) => number;
}

/** Claims by a row that says until when it holds. Every call is one round trip, and no handler holds a connection. */
export function leaseClaims({ pool, table, timeoutOf }: LeaseSettings): Ask<undefined> {
  return sharing(async (id, options) => {
    const timeoutMs = timeoutOf(options);
    const ask = async (statements: string, count = 1): Promise<readonly Result[]> => {
      try {
        // The last result is that of COMMIT.
        return (await askOnce(pool, alone(statements, timeoutMs * 0.8), timeoutMs)).slice(-1 - count, -1);
      } catch (error) {
        throw unavailable(error, table.name);
      }
    };
    const column = await table
      .idOf(id, (sql) => askOnce(pool, sql, timeoutMs))
      .catch((error: unknown) => {
        throw unavailable(error, table.name);
      });
    // The same in both attempts of a call, so that a claim whose reply was lost is granted again.
    const token = newToken();
    const [claimed, held] = await ask(claimStatements(table, column, token, options.leaseMs), 2);
    const fence = claimed?.rows[0]?.['fence'];
    if (!fence) {
      const { done, left } = held?.rows[0] ?? {};
      return done === 'true' ? { state: 'done' } : busy(Math.max(Number(left ?? options.leaseMs), 1000));
    }

    const ours = `event_id = ${column} AND token = '${token}'`;
    const change = async (assignments: string, condition = ours): Promise<boolean> =>
      (await ask(`UPDATE ${table.name} SET ${assignments} WHERE ${condition} RETURNING 1`))[0]?.rows.length === 1;
    return {
      state: 'mine',
      tx: undefined,
      fence: Number(fence),
      done: () => change('done = true, until = CASE WHEN done THEN until ELSE clock_timestamp() END'),
      async release() {
        await change(`until = '-infinity', token = NULL`, `${ours} AND NOT done`);
      },
      extend: (leaseMs) => change(`until = clock_timestamp() + ${interval(leaseMs)}`, `${ours} AND NOT done`),
    };
  });
}

/**
 * Makes the row, or takes over one that was released or has run out; then looks at it, for the case that it is
 * another's. No index covers what changes, so that Postgres can change it in place. The fence grows with each claim, and
 * by the clock where the row was forgotten in between.
 */
function claimStatements({ name }: Table, column: string, token: string, leaseMs: number): string {
  return `INSERT INTO ${name} AS held (event_id, received_at, until, done, fence, token)
  SELECT ${column}, clock_timestamp(), clock_timestamp() + ${interval(leaseMs)}, false,
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, '${token}'::uuid
  WHERE NOT EXISTS (SELECT FROM ${name} WHERE event_id = ${column} AND done)
  ON CONFLICT (event_id) DO UPDATE
    SET until = excluded.until, token = excluded.token, fence = greatest(held.fence + 1, excluded.fence)
    WHERE NOT held.done AND (held.until <= clock_timestamp() OR held.token = excluded.token)
  RETURNING fence::text;
SELECT done::text, (CASE WHEN until > clock_timestamp()
    THEN extract(epoch FROM until - clock_timestamp()) * 1000 ELSE 0 END)::text AS left
  FROM ${name} WHERE event_id = ${column}`;
}
