import type { Claim, ClaimOptions } from '@factuarea-webhook/core';
import { busy, placesOf, sharing } from '@factuarea-webhook/core/store-kit';
import type { MysqlConnection, MysqlPool } from './client.ts';
import { type Connection, connect } from './connections.ts';
import { DUPLICATE, errorNumber, isBroken, isConflict, storeUnavailable, unavailable } from './failures.ts';
import { own, rollBack, SAVEPOINT } from './settle.ts';
import { CLOCK, hex, rowOf, text } from './sql.ts';
import type { Ask, Table } from './table.ts';

// A transaction whose process has vanished with its machine is ended by the server this long after the handler's limit.
const GRACE_SECONDS = 5;

/** What claiming in mode `transaction` needs to know. */
export interface TransactionSettings {
  readonly pool: MysqlPool;
  readonly table: Table;
  readonly maxConnections: number;
  /** The time limit of one call. */
  readonly timeoutOf: (options: ClaimOptions) => number;
}

/** Claims by an uncommitted row: the claim is the open transaction, its mark is COMMIT and its release ROLLBACK. */
export function transactionClaims<Client extends MysqlConnection>(
  settings: TransactionSettings,
): (id: string, options: ClaimOptions) => Promise<Claim<Client>> {
  // Copies of an event that is being handled in this process need no connection to be told so.
  const running = new Set<string>();
  const ask = sharing<Client>(async (id, options) => {
    const claim = await open<Client>(settings, id, options, () => running.delete(id));
    if (claim.state === 'mine') running.add(id);
    return claim;
  });
  return async (id, options) => (running.has(id) ? busy(options.leaseMs) : ask(id, options));
}

async function open<Client extends MysqlConnection>(
  settings: TransactionSettings,
  id: string,
  options: ClaimOptions,
  onEnd: () => void,
): Promise<Claim<Client>> {
  const { pool, table, maxConnections, timeoutOf } = settings;
  const timeoutMs = timeoutOf(options);
  const end = performance.now() + timeoutMs;
  const left = (): number => Math.max(end - performance.now(), 1);
  for (let again = true; ; again = false) {
    let connection: Connection<Client> | undefined;
    let unlock = '';
    try {
      // The other half is for the claim itself.
      const place = await placesOf(pool).take(maxConnections, left() / 2);
      connection = await connect<Client>(pool, left(), place.free);
      const { ask: send } = connection;
      const ask: Ask = (sql) => send(sql, left());
      await table.check(id, ask);
      const lock = table.lockOf(id);
      // A repeat takes no lock. One statement, so that an event costs no round trip more than it has to.
      const row = `(SELECT HEX(CONVERT(event_id USING utf8mb4)) FROM ${table.name} WHERE ${rowOf(id).at})`;
      const { rows } = await ask(
        `SELECT found, IF(found IS NULL, GET_LOCK(${lock}, 0), 0), @@SESSION.wait_timeout, ${CLOCK} FROM (SELECT ${row} AS found) AS ids`,
      );
      const [found, locked, idle, fence] = rows[0] as [string | null, number, number, number];
      if (found !== null) sameId(table, id, found);
      if (Number(locked) !== 1) {
        connection.giveBack();
        return found === null ? busy(options.leaseMs) : { state: 'done' };
      }
      unlock = `SET @factuarea_webhook = RELEASE_LOCK(${lock}), SESSION wait_timeout = ${idle}`;
      const limit = Math.ceil((options.limitMs ?? 120_000) / 1000) + GRACE_SECONDS;
      if (limit < idle) await ask(`SET SESSION wait_timeout = ${limit}`);
      await ask('START TRANSACTION');
      try {
        await ask(`INSERT INTO ${table.name} (event_id, received_at) VALUES (${text(id)}, NOW())`);
      } catch (error) {
        // Not INSERT IGNORE, which hides much else that goes wrong.
        if (errorNumber(error) !== DUPLICATE) throw error;
        const {
          rows: [there],
        } = await ask(`SELECT ${row}`);
        sameId(table, id, there?.[0]);
        rollBack(connection, unlock, timeoutMs);
        return { state: 'done' };
      }
      await ask(`SAVEPOINT ${SAVEPOINT}`);
      place.granted();
      const ended = (): void => {
        // Once the handler has ended it needs no second connection, so what is kept free for that serves the commits.
        place.free();
        onEnd();
      };
      return own({ connection, unlock, table, id, fence: Number(fence), timeoutMs, onEnd: ended });
    } catch (error) {
      if (connection) rollBack(connection, unlock, timeoutMs);
      if (isConflict(error)) return busy(1000);
      // A connection that had died unnoticed in the pool tells nothing about the server.
      if (again && connection?.ended && isBroken(error) && left() > 1) continue;
      throw unavailable(error, table.name);
    }
  }
}

/** @throws `store_unavailable` where the row that is in the way, given in hex, is not that of this id. */
function sameId({ name, mend }: Table, id: string, found: unknown): void {
  if (found === hex(id)) return;
  throw storeUnavailable(
    found
      ? `The column \`event_id\` of ${name} takes this id and another for the same. Make it tell them apart: ${mend};`
      : `A unique index of ${name} other than that of \`event_id\` refused the row. Give this store a table of its own.`,
  );
}
