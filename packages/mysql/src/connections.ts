import { within } from '@factuarea-webhook/core/store-kit';
import { type MysqlConnection, type MysqlPool, type Result, resultOf } from './client.ts';
import { isBroken, storeUnavailable } from './failures.ts';

/** A connection out of the pool. Ends exactly once: given back, or destroyed. */
export interface Connection<Client extends MysqlConnection = MysqlConnection> {
  readonly client: Client;
  readonly ended: boolean;
  /** Sends one statement. An answer that does not come in time destroys the connection, as does a broken one. */
  ask(sql: string, timeoutMs: number): Promise<Result>;
  giveBack(): void;
  /** Ends the connection, and with it whatever it had not committed. */
  destroy(): void;
}

/** Takes a connection out of the pool within the time; one that comes later goes straight back. */
export async function connect<Client extends MysqlConnection>(
  pool: MysqlPool,
  timeoutMs: number,
  onEnd: () => void = () => {},
): Promise<Connection<Client>> {
  const connecting = pool.getConnection() as Promise<Client>;
  let client: Client;
  try {
    client = await within(connecting, timeoutMs, () =>
      storeUnavailable(
        'No connection came free in time. The database cannot be reached, or something else holds all of the pool’s.',
      ),
    );
  } catch (error) {
    connecting
      .then((late) => late.release())
      .catch(() => {})
      .finally(onEnd);
    throw error;
  }
  // An error that nobody listens to ends the process.
  client.on?.('error', ignore);
  let ended = false;

  function end(last: () => void): void {
    if (ended) return;
    ended = true;
    try {
      last();
    } finally {
      onEnd();
    }
  }

  function destroy(): void {
    // What waits for an answer on this connection would otherwise wait for ever: mysql2 tells it of errors only.
    end(() => {
      const { stream } = (client as unknown as { connection?: HasStream }).connection ?? {};
      if (stream?.destroy) stream.destroy(new Error('The connection was destroyed.'));
      client.destroy();
    });
  }

  return {
    client,
    get ended() {
      return ended;
    },
    async ask(sql, ms) {
      try {
        return resultOf(
          await within(client.query({ sql, rowsAsArray: true, typeCast: true }), ms, () =>
            storeUnavailable('The database did not answer in time.'),
          ),
        );
      } catch (error) {
        if (isBroken(error)) destroy();
        throw error;
      }
    },
    giveBack() {
      end(() => {
        client.removeListener?.('error', ignore);
        client.release();
      });
    },
    destroy,
  };
}

interface HasStream {
  readonly stream?: { destroy?(error: Error): void };
}

/** Asks one statement, as a transaction of its own, on a connection of the pool. */
export async function askOnce(pool: MysqlPool, sql: string, timeoutMs: number): Promise<Result> {
  return work(pool, timeoutMs, (ask) => ask(sql));
}

/**
 * Lends a connection of the pool to `use`, and destroys it where that rejects. Begun once more where the connection
 * turns out to be broken, so `use` must be able to run twice.
 */
export async function work<Value>(
  pool: MysqlPool,
  timeoutMs: number,
  use: (ask: (sql: string) => Promise<Result>) => Promise<Value>,
): Promise<Value> {
  const end = performance.now() + timeoutMs;
  const left = (): number => Math.max(end - performance.now(), 1);
  for (let again = true; ; again = false) {
    const connection = await connect(pool, left());
    try {
      let committed = true;
      const value = await use(async (sql) => {
        const result = await connection.ask(sql, left());
        committed = result.committed;
        return result;
      });
      // Where the session's `autocommit` is off, the statements have only opened a transaction.
      if (!committed) await connection.ask('COMMIT', left());
      connection.giveBack();
      return value;
    } catch (error) {
      connection.destroy();
      if (!again || !isBroken(error) || performance.now() >= end) throw error;
    }
  }
}

function ignore(): void {}
