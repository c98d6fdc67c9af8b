import { explain } from './explain.ts';
import type { HeaderValue, Outcome, OutcomeCode, Outgoing } from './types.ts';

/**
 * The one table of what is answered, and how loudly it is logged. Chosen by what Factuarea does next: any 2xx closes
 * the delivery, 5xx and 408/425/429 are tried again, any other 4xx closes it for good.
 */
export const answers: Readonly<Record<OutcomeCode, { status: number; level: 'info' | 'warn' | 'error' }>> = {
  handled: { status: 200, level: 'info' },
  repeat: { status: 200, level: 'info' },
  ignored: { status: 200, level: 'info' },
  pong: { status: 200, level: 'info' },
  handled_unrecorded: { status: 200, level: 'error' },
  in_progress: { status: 503, level: 'info' },
  handler_failed: { status: 500, level: 'error' },
  permanent_failure: { status: 422, level: 'error' },
  deadline_exceeded: { status: 503, level: 'warn' },
  store_unavailable: { status: 503, level: 'error' },
  commit_failed: { status: 503, level: 'error' },
  invalid_signature: { status: 401, level: 'warn' },
  invalid_event: { status: 400, level: 'error' },
  body_too_large: { status: 413, level: 'error' },
  unsupported_encoding: { status: 415, level: 'error' },
  body_incomplete: { status: 503, level: 'warn' },
  body_unavailable: { status: 500, level: 'error' },
  secret_missing: { status: 500, level: 'error' },
  internal_error: { status: 500, level: 'error' },
  method_not_allowed: { status: 405, level: 'info' },
};

/** What one request came to, before it is written down for the sender and for the log. */
export interface Answer {
  readonly code: OutcomeCode;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly error?: unknown;
  /** Where it differs from the table's. */
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** The app's own route has answered, and its response goes out. */
  readonly own?: boolean;
}

/** An answer with the explanation that goes into the log. */
export function answer(code: OutcomeCode, reason?: string): Answer {
  return { code, reason, message: explain(code, reason) };
}

function statusOf({ code, status }: Answer): number {
  return status ?? answers[code].status;
}

/** The answer as the sender sees it. Nothing in it comes from the request. */
export function toOutgoing(given: Answer): Outgoing {
  const status = statusOf(given);
  if (given.own) return { status, headers: {}, body: null };
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (given.code === 'method_not_allowed') headers['allow'] = 'POST';
  if (given.retryAfterMs !== undefined) {
    headers['retry-after'] = String(Math.max(1, Math.ceil(given.retryAfterMs / 1000)));
  }
  return { status, headers, body: JSON.stringify({ code: given.code }) };
}

/** What is known of a request for the log. Filled in as the request goes on its way. */
export interface Trace {
  readonly startedAt: number;
  readonly deliveryId: string | undefined;
  eventId?: string;
  eventType?: string;
  endpoint?: string | undefined;
}

export function startTrace(deliveryId: HeaderValue): Trace {
  // Unsigned, so anybody's: only what a log can hold safely is kept.
  const safe = typeof deliveryId === 'string' && /^[!-~]{1,255}$/.test(deliveryId);
  return { startedAt: performance.now(), deliveryId: safe ? deliveryId : undefined };
}

export function toOutcome(given: Answer, trace: Trace): Outcome {
  return {
    code: given.code,
    status: statusOf(given),
    reason: given.reason,
    message: given.message,
    eventId: trace.eventId,
    eventType: trace.eventType,
    endpoint: trace.endpoint,
    deliveryId: trace.deliveryId,
    durationMs: performance.now() - trace.startedAt,
    error: given.error,
  };
}
