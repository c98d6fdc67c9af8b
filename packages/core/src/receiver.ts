import { type Answer, answer, answers, startTrace, type Trace, toOutcome, toOutgoing } from './answers.ts';
import { hasCode } from './errors.ts';
import { type FactuareaEvent, parseEvent } from './events.ts';
import { checkOptions, type ReceiverOptions, type Settings } from './options.ts';
import { claimInTime, runClaimed } from './run.ts';
import { matchSignature, readSignature } from './signature.ts';
import { attempt, within } from './time.ts';
import type { Claim, Context, HeaderValue, Incoming, Outgoing } from './types.ts';

/**
 * The middleware form's handler: lets the app's own route run, and gives the status that the route answered with once
 * that is known and before any of it has left. 2xx settles the event as done, anything else frees it.
 */
export type Route<Tx = undefined> = (event: FactuareaEvent, context: Context<Tx>) => number | Promise<number>;

/** Takes requests and says what to answer. */
export interface Receiver<Tx = undefined> {
  /** Whether `handler` or `on` was given. Without one, `receive` needs a route. */
  readonly hasHandler: boolean;
  /** Takes one request from its bytes to its answer. Never rejects. */
  receive(incoming: Incoming, route?: Route<Tx>): Promise<Outgoing>;
}

/**
 * Makes a receiver: bytes → verify → parse → claim → handler → settle → answer. Every adapter is this function with a
 * framework's request in front of it and a framework's response behind it.
 *
 * @throws `config_error` for the first option that cannot work.
 * @example
 * ```ts
 * import { createReceiver } from '@factuarea-webhook/core';
 * import { fetchHandler } from '@factuarea-webhook/core/fetch';
 *
 * const receiver = createReceiver({ handler: (event) => console.log(event.type, event.id) });
 * export default { fetch: fetchHandler(receiver) };
 * ```
 */
export function createReceiver<Tx = undefined>(options: ReceiverOptions<Tx> = {}): Receiver<Tx> {
  const settings = checkOptions(options);
  return {
    hasHandler: settings.hasHandler,
    async receive(incoming, route) {
      const trace = startTrace(attempt(() => incoming.header('factuarea-delivery-id')));
      const report = (given: Answer, late = false): void => reportAnswer(settings, given, trace, late);
      let decision: Answer;
      try {
        decision = await decide(settings, incoming, route, trace, report);
      } catch (error) {
        decision = { ...answer('internal_error'), error };
      }
      report(decision);
      return toOutgoing(decision);
    },
  };
}

/** The one way through. Every status is decided here, or in `runClaimed` once the event is ours. */
async function decide<Tx>(
  settings: Settings<Tx>,
  incoming: Incoming,
  route: Route<Tx> | undefined,
  trace: Trace,
  report: (given: Answer, late?: boolean) => void,
): Promise<Answer> {
  const left = (): number => settings.deadlineMs - (performance.now() - trace.startedAt);

  if (incoming.method !== 'POST') return answer('method_not_allowed');
  if (!route && !settings.hasHandler) return answer('internal_error', 'no_handler');
  const signature = readSignature(
    incoming.header('factuarea-signature'),
    settings.nowSeconds(),
    settings.toleranceSeconds,
  );
  if (typeof signature === 'string') return answer('invalid_signature', signature);
  if (!/^(identity)?$/i.test(text(incoming.header('content-encoding')))) return answer('unsupported_encoding');
  const declared = Number(text(incoming.header('content-length')) || 'NaN');
  if (declared > settings.bodyLimit) return answer('body_too_large', `${declared} bytes declared`);

  let keys: Awaited<ReturnType<typeof settings.secrets>>;
  try {
    const given = settings.secrets();
    keys = Array.isArray(given)
      ? given
      : await within(given, left(), () => new Error('`secret` gave nothing in time.'));
  } catch (error) {
    return { ...answer('secret_missing'), error };
  }

  let body: Uint8Array;
  try {
    body = await within(incoming.body(settings.bodyLimit), left(), () => new Error('The body did not end in time.'));
  } catch (error) {
    const code = (['body_too_large', 'body_unavailable'] as const).find((one) => hasCode(error, one));
    return { ...answer(code ?? 'body_incomplete'), error };
  }

  const match = matchSignature(signature, body, keys);
  const secret = match instanceof Promise ? await match : match;
  if (!secret && declared > body.length) return answer('body_incomplete', `${body.length} of ${declared} bytes`);
  if (!secret) return answer('invalid_signature', 'signature_mismatch');
  trace.endpoint = secret.endpoint;

  const event = parseEvent(body);
  if (typeof event === 'string') return answer('invalid_event', event);
  trace.eventId = event.id;
  trace.eventType = event.type;

  if (event.type === 'webhook.ping' && (route || settings.answersPing)) return answer('pong');
  const handler = route ?? settings.handlerFor(event.type);
  if (!handler) return answer('ignored');
  if (settings.known.has(event.id)) return answer('repeat');

  const claimedAt = performance.now();
  let claim: Claim<Tx>;
  try {
    claim = await claimInTime(settings, event.id, left());
  } catch (error) {
    return { ...answer('store_unavailable'), error };
  }
  if (claim.state === 'done') {
    settings.known.add(event.id);
    return answer('repeat');
  }
  if (claim.state === 'busy') return { ...answer('in_progress'), retryAfterMs: claim.retryAfterMs };

  const delivery = {
    id: trace.deliveryId,
    endpoint: secret.endpoint,
    relationship: event.account_relationship,
    attemptedAt: new Date(signature.timestamp * 1000),
  };
  return runClaimed({
    settings,
    claim,
    claimedAt,
    event,
    delivery,
    isRoute: route !== undefined,
    handler,
    left,
    // Next throws where the platform has none: it does not freeze, so there is nothing to keep awake.
    waitUntil: incoming.waitUntil && ((work) => attempt(() => incoming.waitUntil?.(work))),
    reportLate: (given) => report(given, true),
  });
}

function text(value: HeaderValue): string {
  return (typeof value === 'string' ? value : (value ?? []).join(',')).trim();
}

/** Tells the log and `onOutcome`. Neither can change the answer. */
function reportAnswer<Tx>(settings: Settings<Tx>, given: Answer, trace: Trace, late: boolean): void {
  const outcome = toOutcome(given, trace);
  const { message = `Factuarea webhook: ${given.code}.`, error, ...fields } = outcome;
  const logged =
    error === undefined ? { ...fields, ...(late && { late }) } : { ...fields, err: error, ...(late && { late }) };
  attempt(() => settings.logger[answers[given.code].level](logged, message));
  if (late) return;
  attempt(() => Promise.resolve(settings.onOutcome(outcome)).catch(() => {}));
}
