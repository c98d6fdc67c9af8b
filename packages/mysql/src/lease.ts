import type { Claim, ClaimOptions } from '@factuarea-webhook/core';
import { newToken } from '@factuarea-webhook/core/store-kit';
import type { MysqlPool, Result } from './client.ts';
import { askOnce, work } from './connections.ts';
import { isConflict, unavailable } from './failures.ts';
import { CLOCK, interval, rowOf, text } from './sql.ts';
import type { Ask, Table } from './table.ts';

/** What claiming in mode `lease` needs to know. */
export interface LeaseSettings {
  readonly pool: MysqlPool;
  readonly table: Table;
  readonly timeoutOf: (options: ClaimOptions) => number;
}

/** Claims by a row that says until when it holds. No handler holds a connection. */
export function leaseClaims({
  pool,
  table,
  timeoutOf,
}: LeaseSettings): (id: string, options: ClaimOptions) => Promise<Claim<undefined>> {
  return async (id, options) => {
    const timeoutMs = timeoutOf(options);
    const { at } = rowOf(id);
    // The same in both attempts of a call, so that a claim whose reply was lost is granted again.
    const token = newToken();
    const failed = (error: unknown): never => {
      throw unavailable(error, table.name);
    };
    const [state, fence, left] = await work(pool, timeoutMs, async (ask) => {
      await table.check(id, ask);
      return claim(ask, table, id, token, options.leaseMs);
    }).catch((error: unknown) => (isConflict(error) ? (['busy', 0, 1000] as const) : failed(error)));
    if (state === 'done') return { state };
    if (state === 'busy') return { state, retryAfterMs: Math.max(left, 1) };

    const ours = `${at} AND token = '${token}'`;
    const change = (assignments: string): Promise<Result> =>
      askOnce(pool, `UPDATE ${table.name} SET ${assignments} WHERE ${ours} AND done = 0`, timeoutMs).catch(failed);
    return {
      state,
      tx: undefined,
      fence,
      async done() {
        if ((await change('done = 1, until = UTC_TIMESTAMP(6)')).affected > 0) return true;
        // The reply to an earlier mark may have been lost.
        const mark = `SELECT 1 FROM ${table.name} WHERE ${ours} AND done = 1`;
        return (await askOnce(pool, mark, timeoutMs).catch(failed)).rows.length > 0;
      },
      async release() {
        await change(`until = UTC_TIMESTAMP(6), token = ''`);
      },
      extend: async (ms) => (await change(`until = UTC_TIMESTAMP(6) + ${interval(ms)}`)).affected > 0,
    };
  };
}

/**
 * Makes the row, or takes over one that was released or has run out, and reads whose it is then. The fence grows with
 * each claim, and by the clock where the row was pruned in between.
 */
async function claim(
  ask: Ask,
  { name }: Table,
  id: string,
  token: string,
  leaseMs: number,
): Promise<readonly ['mine' | 'busy' | 'done', fence: number, leftMs: number]> {
  const until = `UTC_TIMESTAMP(6) + ${interval(leaseMs)}`;
  // Assignments see the ones before them, so what `free` looks at is changed last.
  const free = 'done = 0 AND until <= UTC_TIMESTAMP(6)';
  await ask(`INSERT INTO ${name} (event_id, received_at, fence, token, done, until)
VALUES (${text(id)}, UTC_TIMESTAMP(6), ${CLOCK}, '${token}', 0, ${until})
ON DUPLICATE KEY UPDATE fence = IF(${free}, GREATEST(fence + 1, ${CLOCK}), fence),
  token = IF(${free}, '${token}', token), until = IF(${free}, ${until}, until)`);
  const { rows } = await ask(
    `SELECT token, done, fence, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), until) FROM ${name} WHERE ${rowOf(id).at}`,
  );
  // No row: somebody has forgotten or pruned it since.
  const [holder, done, fence, left] = rows[0] ?? ['', 0, 0, 0];
  if (Number(done) === 1) return ['done', 0, 0];
  return [String(holder) === token ? 'mine' : 'busy', Number(fence), Number(left) / 1000];
}
