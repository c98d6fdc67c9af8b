import { between, checkNames } from './checks.ts';
import { type DoneCache, doneCache, noCache } from './done-cache.ts';
import { configError } from './errors.ts';
import type { EventOf, FactuareaEvent, KnownEventType, UnknownEvent } from './events.ts';
import { memoryStore } from './memory-store.ts';
import { environmentSecrets, SECRET_VARIABLE, type SecretKey, type SecretOption, secretKeys } from './secrets.ts';
import { checkTolerance } from './signature.ts';
import { attempt } from './time.ts';
import type { Context, Logger, Outcome, Store } from './types.ts';

/** Handles one event. What it returns is awaited; what it throws is answered 500, or 422 for a `PermanentFailure`. */
export type Handler<Event, Tx = undefined> = {
  // A method, so that the handler of one type also fits where a handler of any type may stand.
  handle(event: Event, context: Context<Tx>): unknown;
}['handle'];

type KnownHandlers<Tx> = { readonly [Type in KnownEventType]?: Handler<EventOf<Type>, Tx> | undefined };

/** Handlers by event type. `'*'` takes every type that has none of its own. */
export interface Handlers<Tx = undefined> extends KnownHandlers<Tx> {
  readonly '*'?: Handler<FactuareaEvent, Tx> | undefined;
  readonly [type: string]: Handler<UnknownEvent, Tx> | undefined;
}

/** Options of `createReceiver`, the same in every adapter. */
export interface ReceiverOptions<Tx = undefined> {
  /**
   * The endpoint's secret; an array of several; an object that names them, `{ company: 'whsec_…' }`; or a function that
   * gives one of these, called once per request. Default: the environment's `FACTUAREA_WEBHOOK_SECRET`, with commas
   * between several.
   */
  readonly secret?: SecretOption | undefined;
  /** Where ids are kept. Default: this process's memory, with one warning in production. */
  readonly store?: Store<Tx> | undefined;
  /** Handles every event. Without it and without `on`, adapters let the app's own route handle the event. */
  readonly handler?: Handler<FactuareaEvent, Tx> | undefined;
  /** Handlers by event type. */
  readonly on?: Handlers<Tx> | undefined;
  /** Accepted clock difference in seconds, both ways. Default 300; at most 86400. */
  readonly toleranceSeconds?: number | undefined;
  /** The largest body accepted, in bytes. Default 1 MiB. */
  readonly bodyLimit?: number | undefined;
  /** The endpoint's own time limit at Factuarea, 1–30 seconds. Default 10. The answer's deadline follows from it. */
  readonly timeoutSeconds?: number | undefined;
  /** How long a handler may run in all, also beyond the answer, in seconds. Default 120. */
  readonly handlerLimitSeconds?: number | undefined;
  /** The time limit of one call to the store, in seconds. Default 2. */
  readonly storeTimeoutSeconds?: number | undefined;
  /** How long a done id is kept, in days. Default 90; at least 7, since Factuarea's retries go on for five. */
  readonly retention?: number | undefined;
  /** Whether a small in-process set of done ids stands in front of the store. Default true. */
  readonly cache?: boolean | undefined;
  /** Called once per request, after the answer is decided. What it throws changes nothing. */
  readonly onOutcome?: ((outcome: Outcome) => unknown) | undefined;
  /** Default: the console, for warnings and errors. */
  readonly logger?: Logger | undefined;
  /** The wall clock in Unix seconds, for tests and for deliveries that sat in a queue. Default: the system's. */
  readonly nowSeconds?: (() => number) | undefined;
}

/** Checked options, in the units that the receiver works in. */
export interface Settings<Tx> {
  readonly secrets: () => SecretKey[] | Promise<SecretKey[]>;
  readonly store: Store<Tx>;
  readonly known: DoneCache;
  readonly handlerFor: (type: string) => Handler<FactuareaEvent, Tx> | undefined;
  readonly hasHandler: boolean;
  readonly answersPing: boolean;
  readonly toleranceSeconds: number;
  readonly bodyLimit: number;
  /** From the request's arrival to the answer at the latest. */
  readonly deadlineMs: number;
  /** Between that and the sender's own limit. */
  readonly answerMarginMs: number;
  readonly leaseMs: number;
  readonly handlerLimitMs: number;
  readonly storeTimeoutMs: number;
  readonly retentionMs: number;
  readonly onOutcome: (outcome: Outcome) => unknown;
  readonly logger: Logger;
  readonly nowSeconds: () => number;
}

const DAY_MS = 86_400_000;

const names: Record<keyof ReceiverOptions, true> = {
  secret: true,
  store: true,
  handler: true,
  on: true,
  toleranceSeconds: true,
  bodyLimit: true,
  timeoutSeconds: true,
  handlerLimitSeconds: true,
  storeTimeoutSeconds: true,
  retention: true,
  cache: true,
  onOutcome: true,
  logger: true,
  nowSeconds: true,
};

/** @throws `config_error` for the first option that cannot work. */
export function checkOptions<Tx>(options: ReceiverOptions<Tx>): Settings<Tx> {
  // A misspelt `handler` would turn the receiver into its middleware form, so unknown names are refused.
  checkNames(options, Object.keys(names));
  const timeout = between('timeoutSeconds', options.timeoutSeconds, 10, 1, 30);
  const answerMarginMs = Math.max(300, timeout * 100);
  const retention = between('retention', options.retention, 90, 7, 36_500);
  const logger = checkLogger(options.logger);
  const handlers = checkHandlers(options, logger);
  return {
    ...handlers,
    logger,
    secrets: secretSource(options),
    store: checkStore(options.store, logger),
    known: checkCache(options.cache) ? doneCache() : noCache,
    toleranceSeconds: checkTolerance(options.toleranceSeconds),
    bodyLimit: between('bodyLimit', options.bodyLimit, 1_048_576, 1, 1_073_741_824),
    deadlineMs: timeout * 1000 - answerMarginMs,
    answerMarginMs,
    leaseMs: Math.min(Math.max(1.5 * timeout + 5, 15), 45) * 1000,
    handlerLimitMs: between('handlerLimitSeconds', options.handlerLimitSeconds, 120, 1, 86_400) * 1000,
    storeTimeoutMs: between('storeTimeoutSeconds', options.storeTimeoutSeconds, 2, 0.05, 30) * 1000,
    retentionMs: retention * DAY_MS,
    onOutcome: checkFunction('onOutcome', options.onOutcome) ?? (() => {}),
    nowSeconds: checkFunction('nowSeconds', options.nowSeconds) ?? (() => Date.now() / 1000),
  };
}

function checkFunction<Value>(name: string, value: Value | undefined): Value | undefined {
  if (value === undefined || typeof value === 'function') return value;
  throw configError(`\`${name}\` must be a function.`);
}

function secretSource(options: { readonly secret?: SecretOption | undefined }): Settings<never>['secrets'] {
  const { secret } = options;
  if (typeof secret === 'function') return async () => secretKeys(await secret());
  if ('secret' in options) {
    const keys = secretKeys(secret);
    return () => keys;
  }
  // A build step may load this module without the environment of production, so a missing variable waits for the first
  // request. A wrong one does not.
  let keys = fromEnvironment();
  return () => {
    keys ??= fromEnvironment();
    if (keys) return keys;
    throw configError(`No secret is known. Set ${SECRET_VARIABLE}, or give the option \`secret\`.`);
  };
}

function fromEnvironment(): SecretKey[] | undefined {
  const secrets = environmentSecrets();
  try {
    return secrets && secretKeys(secrets);
  } catch (error) {
    throw configError(`${SECRET_VARIABLE} cannot be used. ${(error as Error).message}`);
  }
}

function checkHandlers<Tx>(
  options: ReceiverOptions<Tx>,
  logger: Logger,
): Pick<Settings<Tx>, 'handlerFor' | 'hasHandler' | 'answersPing'> {
  const handler = checkFunction('handler', options.handler);
  const { on } = options;
  if (on === undefined) {
    return { handlerFor: () => handler, hasHandler: handler !== undefined, answersPing: true };
  }
  if (handler) throw configError('Give `handler` or `on`, not both. `on: { "*": … }` takes every other type.');
  if (typeof on !== 'object' || on === null) throw configError('`on` must be an object: { "invoice.sent": … }.');
  // A Map, so that an event of type `constructor` finds nothing.
  const byType = new Map<string, Handler<FactuareaEvent, Tx>>();
  for (const [type, one] of Object.entries(on)) {
    const checked = checkFunction(`on["${type}"]`, one);
    if (checked) byType.set(type, checked as Handler<FactuareaEvent, Tx>);
  }
  if (byType.size === 0) throw configError('`on` names no event type. Add one, or `"*"` for all.');
  const told = new Set<string>();

  // Otherwise a misspelt type would lose its events without a word: `ignored` is an ordinary outcome.
  function tellOnce(type: string): void {
    if (told.has(type) || told.size >= 100) return;
    told.add(type);
    attempt(() =>
      logger.warn({ code: 'ignored', eventType: type }, 'No handler takes this type. Add it to `on`, or add `"*"`.'),
    );
  }

  return {
    handlerFor(type) {
      const found = byType.get(type) ?? byType.get('*');
      if (!found) tellOnce(type);
      return found;
    },
    hasHandler: true,
    answersPing: !byType.has('webhook.ping'),
  };
}

function checkCache(cache: unknown = true): boolean {
  if (typeof cache === 'boolean') return cache;
  throw configError('`cache` must be true or false.');
}

function checkStore<Tx>(store: Store<Tx> | undefined, logger: Logger): Store<Tx> {
  if (store === undefined) {
    warnInProduction(logger);
    return memoryStore() as Store<unknown> as Store<Tx>;
  }
  if (typeof store?.claim !== 'function') {
    throw configError('`store` has no `claim` method. Give what a store factory returns, such as `memoryStore()`.');
  }
  return store;
}

let warned = false;

function warnInProduction(logger: Logger): void {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  if (warned || process?.env?.['NODE_ENV'] !== 'production') return;
  warned = true;
  logger.warn(
    { code: 'memory_store' },
    'Event ids are kept in memory: a restart forgets them, and other processes do not see them. Give `store`.',
  );
}

function checkLogger(logger: Logger | undefined): Logger {
  if (logger === undefined) {
    return {
      info() {},
      warn: (fields, message) => console.warn(message, fields),
      error: (fields, message) => console.error(message, fields),
    };
  }
  for (const method of ['info', 'warn', 'error'] as const) {
    if (typeof logger?.[method] !== 'function') throw configError(`\`logger\` has no method \`${method}\`.`);
  }
  return logger;
}
