import { within } from '@factuarea-webhook/core/store-kit';
import { type PgClient, type PgPool, type Result, resultsOf } from './client.ts';
import { isBroken, storeUnavailable } from './failures.ts';

const HANG_UP_MS = 500;

/** A connection out of the pool. Ends exactly once: given back, or destroyed. */
export interface Connection<Client extends PgClient = PgClient> {
  readonly client: Client;
  /** Sends one message. An answer that does not come in time destroys the connection, as does a broken one. */
  ask(sql: string, timeoutMs: number): Promise<readonly Result[]>;
  readonly ended: boolean;
  giveBack(): void;
  /** Ends the connection, and with it whatever it had not committed. Resolves once Postgres has hung up as well. */
  destroy(): Promise<void>;
}

/** Takes a connection out of the pool within the time; one that comes later goes straight back. */
export async function connect<Client extends PgClient>(
  pool: PgPool,
  timeoutMs: number,
  onEnd: () => void = () => {},
): Promise<Connection<Client>> {
  const connecting = pool.connect() as Promise<Client>;
  let client: Client;
  try {
    client = await within(connecting, timeoutMs, () =>
      storeUnavailable(
        'No connection came free in time. Postgres cannot be reached, or something else holds all of the pool’s.',
      ),
    );
  } catch (error) {
    connecting
      .then((late) => late.release())
      .catch(() => {})
      .finally(onEnd);
    throw error;
  }
  // The pool listens to idle connections only, and an error that nobody listens to ends the process.
  client.on?.('error', ignore);
  let ended = false;

  function giveBack(): void {
    if (ended) return;
    ended = true;
    client.removeListener?.('error', ignore);
    try {
      client.release();
    } finally {
      onEnd();
    }
  }

  // The listener for errors stays, as a connection that is being ended may still break.
  async function destroy(): Promise<void> {
    if (ended) return;
    ended = true;
    const hungUp = new Promise<void>((resolve) => (client.on ? client.on('end', () => resolve()) : resolve()));
    try {
      client.release(true);
    } finally {
      onEnd();
    }
    // Releasing says goodbye and waits, for ever where the network drops packets.
    await within(hungUp, HANG_UP_MS, () => undefined).catch(() => {
      (client as unknown as { connection?: HasStream }).connection?.stream?.destroy?.();
    });
  }

  return {
    client,
    get ended() {
      return ended;
    },
    async ask(sql, ms) {
      try {
        return resultsOf(
          await within(client.query(sql), ms, () => storeUnavailable('Postgres did not answer in time.')),
        );
      } catch (error) {
        if (isBroken(error)) void destroy();
        throw error;
      }
    },
    giveBack,
    destroy,
  };
}

const sessionTimeouts = new WeakMap<PgClient, number>();

/** The session's own `statement_timeout` in milliseconds, 0 for none. Asked once for each connection. */
export async function sessionTimeout({ client, ask }: Connection, timeoutMs: number): Promise<number> {
  let known = sessionTimeouts.get(client);
  if (known === undefined) {
    const [result] = await ask("SELECT setting FROM pg_settings WHERE name = 'statement_timeout'", timeoutMs);
    known = Number(result?.rows[0]?.['setting'] ?? 0);
    sessionTimeouts.set(client, known);
  }
  return known;
}

interface HasStream {
  readonly stream?: { destroy?(): void };
}

/** Sends one message on a connection of the pool. Asked once more where the connection turns out to be broken. */
export async function askOnce(pool: PgPool, sql: string, timeoutMs: number): Promise<readonly Result[]> {
  const end = performance.now() + timeoutMs;
  for (let again = true; ; again = false) {
    const connection = await connect(pool, end - performance.now());
    try {
      const results = await connection.ask(sql, end - performance.now());
      connection.giveBack();
      return results;
    } catch (error) {
      // An error inside of a transaction leaves it open.
      void connection.destroy();
      if (!again || !isBroken(error) || performance.now() >= end) throw error;
    }
  }
}

function ignore(): void {}
