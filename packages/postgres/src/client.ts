/** What is called on a connection: `pg`'s `PoolClient`, and whatever speaks its interface. */
export interface PgClient {
  /** Must take several statements in one text, as `pg` does, and then give one result for each. */
  query(text: string): Promise<unknown>;
  /** Gives the connection back; `true` destroys it instead, which rolls its transaction back. */
  release(destroy?: boolean): void;
  on?(event: 'error' | 'end', listener: (error: Error) => void): unknown;
  removeListener?(event: 'error', listener: (error: Error) => void): unknown;
  /** `I` outside a transaction, `T` inside one, `E` inside one that has failed. In `pg` from 8.18. */
  getTransactionStatus?(): string | null;
}

/** What is called on a pool: `pg`'s `Pool`, Neon's, or an object of your own with `connect`. */
export interface PgPool {
  connect(): Promise<PgClient>;
  readonly options?: { readonly max?: number | undefined };
  on?(event: 'error', listener: (error: Error) => void): unknown;
}

/** The type of a pool's connections, which is the type of `context.tx`: `PoolClient` for `pg`'s `Pool`. */
export type ClientOf<Pool> = Pool extends {
  // pg's `connect` has a second form that takes a callback, and inference looks at the last form only.
  connect(): Promise<infer Client>;
  connect(callback: never): unknown;
}
  ? unknown extends Client
    ? OnlyClientOf<Pool>
    : Client
  : OnlyClientOf<Pool>;

type OnlyClientOf<Pool> = Pool extends { connect(): Promise<infer Client> } ? Client : never;

/** One statement's result, as far as it is looked at. Every value asked for is a text. */
export interface Result {
  readonly command?: string | undefined;
  readonly rows: readonly Readonly<Record<string, string | null>>[];
}

/** `pg` gives one result for one statement, and an array for several. */
export function resultsOf(given: unknown): readonly Result[] {
  return (Array.isArray(given) ? given : [given]) as Result[];
}
