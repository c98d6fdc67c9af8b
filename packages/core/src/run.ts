import { type Answer, answer } from './answers.ts';
import { type ErrorCode, FactuareaWebhookError, hasCode } from './errors.ts';
import type { FactuareaEvent } from './events.ts';
import { keepLease } from './lease.ts';
import type { Settings } from './options.ts';
import { attempt, pause, promised, within } from './time.ts';
import type { Claim, Context, Delivery, OwnClaim } from './types.ts';

/** What is needed to run a handler under a claim. */
export interface Run<Tx> {
  readonly settings: Settings<Tx>;
  readonly claim: OwnClaim<Tx>;
  /** When the claim was asked for, by the monotonic clock. */
  readonly claimedAt: number;
  readonly event: FactuareaEvent;
  readonly delivery: Delivery;
  readonly handler: (event: FactuareaEvent, context: Context<Tx>) => unknown;
  /** The handler is the app's own route, which answers for itself and gives its status. */
  readonly isRoute: boolean;
  /** Milliseconds left until an answer must go out. */
  readonly left: () => number;
  readonly waitUntil: ((work: Promise<unknown>) => void) | undefined;
  /** Told how the run ended when that was after the answer. */
  readonly reportLate: (answer: Answer) => void;
}

type Handled = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

/** Claims an id within the store's time limit. A claim that comes too late is given back. */
export async function claimInTime<Tx>(
  { store, leaseMs, retentionMs, handlerLimitMs, storeTimeoutMs }: Settings<Tx>,
  id: string,
  left: number,
): Promise<Claim<Tx>> {
  const claimOptions = { leaseMs, retentionMs, limitMs: handlerLimitMs, timeoutMs: storeTimeoutMs };
  const claiming = promised(() => store.claim(id, claimOptions));
  try {
    return await within(claiming, Math.min(storeTimeoutMs, left), storeSilent);
  } catch (error) {
    // The request is answered 503 by then, so a claim that still comes would only keep the retry waiting.
    claiming.then((claim) => (claim.state === 'mine' ? claim.release() : undefined)).catch(() => {});
    throw error;
  }
}

/**
 * Runs the handler, settles the claim by how it ended, and answers no later than the deadline. A route is waited for
 * until the handler's limit, also when its sender has left: freed earlier, the event would run twice at once.
 */
export async function runClaimed<Tx>(run: Run<Tx>): Promise<Answer> {
  const { settings, claim, left, isRoute } = run;
  const aborting: Aborting = {};
  const stopKeeping = keepLease(claim, settings, run.claimedAt, () =>
    abort(aborting, 'lease_lost', 'The claim was lost, so another run may have begun.'),
  );
  const limit = startLimit(settings.handlerLimitMs, () => {
    stopKeeping();
    abort(aborting, 'handler_limit', 'The handler ran longer than `handlerLimitSeconds`.');
    attempt(() => claim.abandon?.().catch(() => {}));
  });

  const context = contextOf(run, aborting);
  let ended: { readonly result: Handled; readonly at: number } | undefined;
  const handled = promised(() => run.handler(run.event, context)).then(
    (value): Handled => ({ ok: true, value }),
    (error: unknown): Handled => ({ ok: false, error }),
  );
  const settled = handled.then(async (result) => {
    ended = { result, at: performance.now() };
    const given = await settle(run, result);
    stopKeeping();
    limit.stop();
    return given;
  });
  // From the start, since a platform that freezes after the answer may also end with a sender that leaves before it.
  run.waitUntil?.(Promise.race([settled, limit.reached]));

  // In the middleware form the app answers, so only the handler's limit can come before it has.
  if (isRoute) await Promise.race([handled, limit.reached]);
  else {
    const inTime = await within(settled, left(), storeSilent).catch(() => undefined);
    if (inTime) return inTime;
  }
  const last = ended as { result: Handled; at: number } | undefined;
  if (!last) {
    settled.then(run.reportLate);
    return answer('deadline_exceeded', isRoute ? 'route_limit' : undefined);
  }
  const settleMs = isRoute ? settings.storeTimeoutMs : last.at + settings.answerMarginMs / 2 - performance.now();
  const settling = settleMs > 0 ? within(settled, settleMs, storeSilent) : Promise.reject(storeSilent());
  return settling.catch((error: unknown) => {
    settled.then(run.reportLate);
    return unsettled(run, last.result, error);
  });
}

/** What aborts a handler's signal. The signal is made when it is first read, as making one took 4 µs for each event. */
interface Aborting {
  controller?: AbortController;
  reason?: FactuareaWebhookError;
}

function abort(aborting: Aborting, code: ErrorCode, message: string): void {
  aborting.reason ??= new FactuareaWebhookError(code, message);
  aborting.controller?.abort(aborting.reason);
}

const hidden = Symbol('aborting');

const signalProperty = {
  get(this: { readonly [hidden]: Aborting }): Context['signal'] {
    const aborting = this[hidden];
    aborting.controller ??= new AbortController();
    if (aborting.reason) aborting.controller.abort(aborting.reason);
    return aborting.controller.signal as Context['signal'];
  },
  enumerable: true,
};

function contextOf<Tx>({ event, delivery, claim }: Run<Tx>, aborting: Aborting): Context<Tx> {
  const context = { event, delivery, tx: claim.tx, fence: claim.fence };
  Object.defineProperty(context, hidden, { value: aborting });
  // One descriptor for all, which is quick, of an own property, which a copy of the context has as well.
  return Object.defineProperty(context, 'signal', signalProperty) as typeof context & Pick<Context, 'signal'>;
}

/** Settles the claim by how the handler ended. Never rejects. */
async function settle<Tx>(run: Run<Tx>, result: Handled): Promise<Answer> {
  if (!succeeded(run, result)) {
    await release(run);
    return failed(run, result);
  }
  const settled = run.claim.tx === undefined ? await mark(run, result) : await commit(run, result);
  if (settled.code === 'handled') run.settings.known.add(run.event.id);
  return settled;
}

/** Transactional stores: COMMIT, once. Whether a lost one took effect is for the row to tell at the retry. */
async function commit<Tx>(run: Run<Tx>, result: Handled): Promise<Answer> {
  try {
    return (await run.claim.done()) ? success(run, result) : answer('commit_failed');
  } catch (error) {
    if (!hasCode(error, 'commit_rolled_back')) return { ...answer('commit_failed'), error };
    return { ...answer('commit_failed', 'commit_rolled_back'), status: 500, error };
  }
}

/** Lease stores: the marker is tried for as long as the claim can be held, since a lost one means a second run. */
async function mark<Tx>(run: Run<Tx>, result: Handled): Promise<Answer> {
  const { claim, settings } = run;
  const end = performance.now() + settings.leaseMs;
  for (let wait = 50; ; wait *= 2) {
    try {
      const marked = await within(
        promised(() => claim.done()),
        settings.storeTimeoutMs,
        storeSilent,
      );
      return marked ? success(run, result) : { ...success(run, result), ...answer('handled_unrecorded', 'lease_lost') };
    } catch (error) {
      if (performance.now() + wait > end) return unsettled(run, result, error);
    }
    await pause(wait);
  }
}

async function release<Tx>({ claim, settings, event }: Run<Tx>): Promise<void> {
  try {
    await within(
      promised(() => claim.release()),
      settings.storeTimeoutMs,
      storeSilent,
    );
  } catch (err) {
    attempt(() =>
      settings.logger.warn(
        { code: 'release_failed', eventId: event.id, err },
        'The claim could not be freed: retries are answered 503 until its lease has run out.',
      ),
    );
  }
}

function succeeded<Tx>({ isRoute }: Run<Tx>, result: Handled): boolean {
  return result.ok && (!isRoute || (Number(result.value) >= 200 && Number(result.value) <= 299));
}

function success<Tx>(run: Run<Tx>, result: Handled): Answer {
  return { ...answer('handled'), ...routeAnswer(run, result) };
}

function failed<Tx>(run: Run<Tx>, result: Handled): Answer {
  if (result.ok) return { ...answer('handler_failed', 'route_answered'), ...routeAnswer(run, result) };
  const { error } = result;
  if (hasCode(error, 'route_closed')) return { ...answer('handler_failed', 'route_closed'), error };
  return { ...answer(hasCode(error, 'permanent_failure') ? 'permanent_failure' : 'handler_failed'), error };
}

/** What to answer when the claim could not be settled in time: a 5xx only where the work is known to be undone. */
function unsettled<Tx>(run: Run<Tx>, result: Handled, error: unknown): Answer {
  if (!succeeded(run, result)) return failed(run, result);
  if (run.claim.tx !== undefined) return { ...answer('commit_failed'), error };
  return { ...success(run, result), ...answer('handled_unrecorded'), error };
}

function routeAnswer<Tx>({ isRoute }: Run<Tx>, result: Handled): { own?: true; status?: number } {
  return isRoute && result.ok ? { own: true, status: Number(result.value) } : {};
}

function storeSilent(): FactuareaWebhookError {
  return new FactuareaWebhookError(
    'store_unavailable',
    'The store gave no answer in time. Check that it is reachable.',
  );
}

function startLimit(ms: number, reach: () => void): { reached: Promise<void>; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const reached = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      reach();
      resolve();
    }, ms);
  });
  return { reached, stop: () => clearTimeout(timer) };
}
