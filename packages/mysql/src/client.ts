/** What is called on a connection: that of `mysql2/promise`, and whatever speaks its interface. */
export interface MysqlConnection {
  query(options: { sql: string; rowsAsArray: boolean; typeCast: boolean }): Promise<unknown>;
  /** Gives the connection back to its pool. */
  release(): void;
  /** Closes it at once, which rolls its transaction back. */
  destroy(): void;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  removeListener?(event: 'error', listener: (error: Error) => void): unknown;
}

/** What is called on a pool: that of `mysql2/promise`, or what `pool.promise()` gives of the other kind. */
export interface MysqlPool {
  getConnection(): Promise<MysqlConnection>;
  readonly pool?: { readonly config?: { readonly connectionLimit?: number | undefined } };
}

/** The type of a pool's connections, which is the type of `context.tx`: `PoolConnection` for `mysql2/promise`. */
export type ConnectionOf<Pool> = Pool extends { getConnection(): Promise<infer Connection> } ? Connection : never;

/** What one statement gave. */
export interface Result {
  /** Values by position, whatever the pool's settings make of rows. */
  readonly rows: readonly (readonly unknown[])[];
  readonly affected: number;
  /** False where the statement belongs to a transaction that is still open. */
  readonly committed: boolean;
}

// Two of the flags that the server sends with each result.
const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;

/** mysql2 gives rows and fields, or one header for a statement without rows. */
export function resultOf(given: unknown): Result {
  const [first] = given as [unknown];
  if (Array.isArray(first)) return { rows: first, affected: 0, committed: true };
  const { affectedRows, serverStatus = AUTOCOMMIT } = first as { affectedRows?: number; serverStatus?: number };
  const committed = (serverStatus & AUTOCOMMIT) > 0 && (serverStatus & IN_TRANSACTION) === 0;
  return { rows: [], affected: Number(affectedRows), committed };
}
