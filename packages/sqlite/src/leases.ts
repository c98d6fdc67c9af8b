import type { Claim, ClaimOptions } from '@factuarea-webhook/core';
import { newToken } from '@factuarea-webhook/core/store-kit';
import { type Access, TIMEOUT_MS } from './access.ts';
import type { Table } from './table.ts';

/** Claims as leases: each call is a transaction of its own, and none is open while a handler runs. */
export function leases({ read, write }: Access, table: Table): (id: string, options: ClaimOptions) => Promise<Claim> {
  return async (id, { leaseMs, timeoutMs = TIMEOUT_MS }) => {
    // Repeats and copies are answered by a read, which waits for no writer.
    const known = await read(timeoutMs, (database) => table.standing(database, id));
    if (known) return known;
    const token = newToken();
    const taken = await write(
      timeoutMs,
      (database) => table.standing(database, id) ?? table.lease(database, id, token, leaseMs),
    );
    if (typeof taken !== 'number') return taken;
    return {
      state: 'mine',
      tx: undefined,
      fence: taken,
      done: () => write(timeoutMs, (database) => table.finish(database, taken, token)),
      async release() {
        await write(timeoutMs, (database) => table.release(database, taken, token));
      },
      extend: (ms) => write(timeoutMs, (database) => table.extend(database, taken, token, ms)),
    };
  };
}
