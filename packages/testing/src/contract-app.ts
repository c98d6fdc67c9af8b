/**
 * The app that `adapterContract` judges an adapter by. It runs where the adapter runs, which may be another process or
 * another runtime, so nothing here needs Node: it is made from a config that fits into JSON, is steered by the events
 * it is sent, and tells what happened as JSON.
 */
import type { Context, FactuareaEvent, Logger, Outcome, ReceiverOptions } from '@factuarea-webhook/core';
import { behave, type RouteAnswer, routeAnswer, steering, toStream } from './contract-behaviour.ts';
import { registry } from './contract-registry.ts';
import { contractStore, type StoreCall } from './contract-store.ts';

export {
  type NodeResponse,
  type RouteAnswer,
  STREAM_CHUNK_BYTES,
  STREAM_CHUNKS,
  writeAnswer,
} from './contract-behaviour.ts';

/** What a contract app is made from. JSON: hand it to another process as text. */
export interface ContractConfig {
  /** Unlike in every run, so that one process can hold several apps. */
  readonly run: string;
  readonly secrets: { readonly company: string; readonly account: string };
  readonly bodyLimit: number;
  readonly timeoutSeconds: number;
  readonly handlerLimitSeconds: number;
  readonly storeTimeoutSeconds: number;
}

/** One run of the app's handler or route. */
export interface ContractRun {
  readonly id: string;
  readonly type: string;
  readonly form: 'handler' | 'middleware';
  readonly endpoint: string | undefined;
  readonly relationship: string | undefined;
  readonly fence: number;
  /** `data.object.note`, to see that text arrives unharmed. */
  readonly note: unknown;
  ended?: 'succeeded' | 'threw';
  /** The code that the handler's signal was aborted with. */
  aborted?: string;
}

/** What `GET /contract/state` answers. */
export interface ContractState {
  readonly runs: readonly ContractRun[];
  readonly outcomes: readonly Omit<Outcome, 'error'>[];
  readonly logs: readonly string[];
  readonly store: readonly StoreCall[];
  /** Rejections and exceptions that nobody caught, where the runtime tells. */
  readonly unhandled: readonly string[];
}

/** What a subject mounts. */
export interface ContractApp {
  /** For `POST /handler`, and for `POST /parsed` behind a body parser. */
  readonly handlerOptions: ReceiverOptions<unknown>;
  /** For `POST /middleware`. */
  readonly middlewareOptions: ReceiverOptions<unknown>;
  /** The app's own route behind the middleware form: call it, and let what it throws reach the framework. */
  route(context: Context<unknown>): Promise<RouteAnswer>;
  /** The same as a Fetch `Response`. */
  respond(context: Context<unknown>): Promise<Response>;
  /** For `GET /contract/state`. */
  state(): ContractState;
}

/**
 * Makes the app, or gives the one made before from the same config: bundlers may load this module once per route.
 *
 * @example
 * ```ts
 * const app = contractApp(config);
 * server.all('/handler', factuareaWebhook(app.handlerOptions));
 * server.all('/middleware', factuareaWebhook(app.middlewareOptions), async (req, res) => {
 *   await writeAnswer(res, await app.route(req.factuarea));
 * });
 * server.get('/contract/state', (req, res) => res.json(app.state()));
 * ```
 */
export function contractApp(config: ContractConfig): ContractApp {
  const apps = registry();
  const app = apps.get(config.run) ?? makeApp(config, apps.unhandled);
  apps.set(config.run, app);
  return app;
}

function makeApp(config: ContractConfig, unhandled: readonly string[]): ContractApp {
  const runs: ContractRun[] = [];
  const outcomes: Omit<Outcome, 'error'>[] = [];
  const logs: string[] = [];
  const store: StoreCall[] = [];
  let lostSecrets = 0;

  async function run(form: ContractRun['form'], event: FactuareaEvent, context: Context<unknown>): Promise<string> {
    const object = steering(event);
    const behaviour = object.behave[runs.filter(({ id }) => id === event.id).length] ?? object.behave.at(-1) ?? '';
    const entry: ContractRun = {
      id: event.id,
      type: event.type,
      form,
      endpoint: context.delivery.endpoint,
      relationship: context.delivery.relationship,
      fence: context.fence,
      note: object.note,
    };
    runs.push(entry);
    context.signal.addEventListener('abort', () => {
      entry.aborted = String((context.signal.reason as { code?: unknown } | undefined)?.code);
    });
    try {
      await behave(behaviour, {
        loseSecret: () => lostSecrets++,
        copies: () => outcomes.filter(({ code, eventId }) => code === 'in_progress' && eventId === event.id).length,
      });
      entry.ended = 'succeeded';
      return behaviour;
    } catch (error) {
      entry.ended = 'threw';
      throw error;
    }
  }

  const common: ReceiverOptions<unknown> = {
    secret: () => {
      if (lostSecrets === 0) return { company: config.secrets.company, account: config.secrets.account };
      lostSecrets--;
      return '';
    },
    store: contractStore(store),
    bodyLimit: config.bodyLimit,
    timeoutSeconds: config.timeoutSeconds,
    handlerLimitSeconds: config.handlerLimitSeconds,
    storeTimeoutSeconds: config.storeTimeoutSeconds,
    onOutcome: ({ error, ...outcome }) => outcomes.push(outcome),
    logger: recordingLogger(logs),
  };
  const handle = (event: FactuareaEvent, context: Context<unknown>): Promise<string> => run('handler', event, context);

  async function route(context: Context<unknown>): Promise<RouteAnswer> {
    return routeAnswer(await run('middleware', context.event, context));
  }

  return {
    // Named types and no '*', so that any other type shows what is answered where nothing handles it.
    handlerOptions: { ...common, on: { 'invoice.sent': handle, 'invoice.paid': handle } },
    middlewareOptions: common,
    route,
    async respond(context) {
      const { status, headers, body, close } = await route(context);
      // A Fetch handler has no connection to destroy: failing is as near as it comes.
      if (close) throw new Error('The contract’s route was told to close the connection.');
      const empty = status === 204 || status === 304;
      return new Response(empty ? null : typeof body === 'string' ? body : toStream(body), { status, headers });
    },
    // Copied, since what is handed out in the same process must not change under the reader.
    state: () => JSON.parse(JSON.stringify({ runs, outcomes, logs, store, unhandled })) as ContractState,
  };
}

function recordingLogger(logs: string[]): Logger {
  const at =
    (level: string) =>
    (fields: object, message: string): void => {
      logs.push(`${level} ${message} ${JSON.stringify(fields, errorsToo)}`);
    };
  return { info: at('info'), warn: at('warn'), error: at('error') };
}

function errorsToo(_: string, value: unknown): unknown {
  // Not `instanceof`: in a test runner's own realm it says no.
  if (typeof (value as { stack?: unknown } | null)?.stack !== 'string') return value;
  const { name, message, stack, cause } = value as Error;
  return { ...(value as object), name, message, stack, cause };
}
