import type { FactuareaEvent } from './events.ts';

/** The platform's `AbortSignal` where its types are loaded, else the part of it that handlers need. */
export type HandlerSignal = typeof globalThis extends { AbortSignal: { prototype: infer T } } ? T : MinimalSignal;

/** What every `AbortSignal` has. */
export interface MinimalSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A header as frameworks hand it over: Node gives arrays for some repeated headers, Fetch gives null for none. */
export type HeaderValue = string | readonly string[] | undefined | null;

/** A framework's request, as the receiver sees it. An adapter makes one of these per request. */
export interface Incoming {
  /** The HTTP method, in capitals. */
  readonly method: string;
  /** Looks a header up. `name` is always given in lower case. */
  header(name: string): HeaderValue;
  /**
   * Reads the raw bytes, once. Rejects with a `FactuareaWebhookError` whose `code` is `body_too_large` (more than
   * `limit` bytes), `body_incomplete` (cut on the way) or `body_unavailable` (somebody else has read it).
   */
  body(limit: number): Promise<Uint8Array>;
  /** Keeps the platform from freezing or ending the process while `work` goes on (Workers, Vercel). */
  waitUntil?(work: Promise<unknown>): void;
}

/** What to answer. An adapter writes it as it stands. */
export interface Outgoing {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** A small JSON text; `null` when the app's own route has answered and its response goes out unchanged. */
  readonly body: string | null;
}

/** Where event ids are kept. See `docs/write-a-store.md` for a complete example. */
export interface Store<Tx = undefined> {
  /**
   * Tries to become the one that handles `id`. Never waits for another claim to end: that is `busy`. A rejection means
   * that nothing is known, and is answered 503.
   */
  claim(id: string, options: ClaimOptions): Promise<Claim<Tx>>;
  /** Deletes ids that were done before `olderThan`; gives the number deleted. */
  prune?(options?: PruneOptions): Promise<number>;
}

export interface ClaimOptions {
  /** How long the claim holds without being extended, in milliseconds. Judged by the store's clock. */
  readonly leaseMs: number;
  /** How long the id must be remembered once it is done, in milliseconds. */
  readonly retentionMs: number;
  /**
   * How long the claim may be held in all, with every extension, in milliseconds: afterwards `abandon` is called. The
   * receiver always gives it. Default 120 000.
   */
  readonly limitMs?: number;
  /** How long one call to the store may take, in milliseconds. The receiver always gives it. Default 2000. */
  readonly timeoutMs?: number;
}

export interface PruneOptions {
  /** Ids done before this moment are deleted. Default: now less the longest retention that claims have named in this process, or 90 days. */
  readonly olderThan?: Date;
  /** Rows deleted in one statement. Default 500. */
  readonly batchSize?: number;
}

/** The answer to `Store.claim`. */
export type Claim<Tx = undefined> = DoneClaim | BusyClaim | OwnClaim<Tx>;

/** The id was handled before. */
export interface DoneClaim {
  readonly state: 'done';
}

/** Another copy is being handled right now. */
export interface BusyClaim {
  readonly state: 'busy';
  /** Milliseconds until the other claim ends at the latest, by what is known now. */
  readonly retryAfterMs: number;
}

/** The id is ours to handle. */
export interface OwnClaim<Tx = undefined> {
  readonly state: 'mine';
  /** The open transaction, or `undefined` in a store that holds leases. */
  readonly tx: Tx;
  /** Grows with every claim granted for this id: a later run has the larger number. */
  readonly fence: number;
  /**
   * Marks the id done: COMMIT, or a write that takes effect only while the claim is ours. True when the mark stands
   * (also when called again after a lost reply), false when the claim had been lost to another. In a transactional
   * store it rejects with `commit_rolled_back` when the database is known to have rolled back, and with
   * `commit_failed` when the commit failed or its outcome is not known.
   */
  done(): Promise<boolean>;
  /** Frees the id at once: ROLLBACK, or a write that takes effect only while the claim is ours. */
  release(): Promise<void>;
  /** Holds the claim for another `leaseMs` from now; false when it has been lost. Transactions have no need of it. */
  extend?(leaseMs: number): Promise<boolean>;
  /**
   * Called when the handler has run past its limit: afterwards nothing that it does through `tx` may commit. Leases
   * leave this out, since they simply run out.
   */
  abandon?(): Promise<void>;
}

/** What is known about the delivery that brought the event. */
export interface Delivery {
  /** `Factuarea-Delivery-Id`. Not signed and new with every delivery: for logs, never a key. */
  readonly id: string | undefined;
  /** The name of the secret that matched, where `secret` names its secrets. */
  readonly endpoint: string | undefined;
  /** `own` or `managed` on deliveries of account endpoints, from the signed body. */
  readonly relationship: string | undefined;
  /** When Factuarea signed this attempt. */
  readonly attemptedAt: Date;
}

/** The second argument of every handler, and what the middleware form puts on the request. */
export interface Context<Tx = undefined> {
  readonly event: FactuareaEvent;
  readonly delivery: Delivery;
  /** The store's open transaction, where the store has one: what is written through it commits once per event. */
  readonly tx: Tx;
  /** Larger in a later run for the same event. Give it to systems that can refuse a smaller one. */
  readonly fence: number;
  /**
   * Aborts when the handler's limit is reached, and when the claim is lost to another process. Not when the sender
   * leaves: work that has begun had better end and be recorded, so that the retry is answered 200.
   */
  readonly signal: HandlerSignal;
}

/** Everything a request can come to. The status of each is in `answers.ts`, and in the README's table. */
export type OutcomeCode =
  | 'handled'
  | 'repeat'
  | 'ignored'
  | 'pong'
  | 'handled_unrecorded'
  | 'in_progress'
  | 'handler_failed'
  | 'permanent_failure'
  | 'deadline_exceeded'
  | 'store_unavailable'
  | 'commit_failed'
  | 'invalid_signature'
  | 'invalid_event'
  | 'body_too_large'
  | 'unsupported_encoding'
  | 'body_incomplete'
  | 'body_unavailable'
  | 'secret_missing'
  | 'internal_error'
  | 'method_not_allowed';

/** Everything worth logging or counting about one request. */
export interface Outcome {
  readonly code: OutcomeCode;
  readonly status: number;
  /** Tells apart what shares a code, such as `signature_mismatch` and `timestamp_out_of_tolerance`. */
  readonly reason: string | undefined;
  /** What happened and what to do about it, for people. */
  readonly message: string | undefined;
  /** From the signed body; undefined until the signature has held. */
  readonly eventId: string | undefined;
  readonly eventType: string | undefined;
  readonly endpoint: string | undefined;
  readonly deliveryId: string | undefined;
  readonly durationMs: number;
  /** What the handler or the store threw. */
  readonly error: unknown;
}

/** The three methods of a logger that are used, in pino's shape. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
