import { isUtf8 } from 'node:buffer';
import { type Diagnosis, diagnose } from '../verify/diagnose.ts';

/** One delivery as it came, in the form in which the page and `--json` get it. */
export interface Capture {
  /** Counted from 1. */
  readonly number: number;
  readonly at: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body as text; null when it is no UTF-8. */
  readonly body: string | null;
  readonly bytes: number;
  /** Milliseconds from the request's head to the end of its body. */
  readonly readMs: number;
  /** `unchecked` where no secret is known. */
  readonly verdict: 'good' | 'bad' | 'unchecked';
  readonly findings: Diagnosis['findings'];
  readonly signedAt: string | undefined;
  readonly clockOffsetSeconds: number | undefined;
  /** Which of several secrets fits, counted from 1. */
  readonly secret: number | undefined;
  readonly event: CapturedEvent | undefined;
  /** The number of the first delivery of the same event. */
  readonly repeatOf: number | undefined;
  /** The number of the delivery that this one is a copy of, sent from the page. */
  readonly resendOf: number | undefined;
  /** What was answered; undefined while the app is being asked. */
  readonly answer: Answer | undefined;
  /** What the developer's own app answered. */
  readonly forwarded: Forwarded | undefined;
}

/** What is known of the event: from a body whose signature may not have held. */
export interface CapturedEvent {
  readonly id: string;
  readonly type: string;
  readonly endpoint: 'company' | 'account';
}

export interface Answer {
  readonly status: number;
  readonly ms: number;
}

export interface Forwarded {
  readonly url: string;
  readonly status: number | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  readonly ms: number;
  readonly error: string | undefined;
}

/** A request, read to its end. */
export interface Arrival {
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  readonly readMs: number;
  readonly resendOf: number | undefined;
}

export interface Judge {
  readonly secrets: readonly string[];
  readonly toleranceSeconds: number;
}

/** Says what an arrival is, given the captures before it. */
export function capture(
  arrival: Arrival,
  number: number,
  earlier: readonly Capture[],
  { secrets, toleranceSeconds }: Judge,
): Capture {
  const { body, headers } = arrival;
  const header = (wanted: string): string | undefined => headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
  const diagnosis =
    secrets.length === 0
      ? undefined
      : diagnose({
          signature: header('factuarea-signature'),
          body,
          secrets,
          receivedAt: Date.now() / 1000,
          toleranceSeconds,
        });
  const event = eventIn(body);
  return {
    number,
    at: new Date().toISOString(),
    path: arrival.path,
    headers,
    body: isUtf8(body) ? body.toString('utf8') : null,
    bytes: body.length,
    readMs: arrival.readMs,
    verdict: diagnosis === undefined ? 'unchecked' : diagnosis.verifies ? 'good' : 'bad',
    findings: diagnosis?.findings ?? [],
    signedAt: diagnosis?.signedAt,
    clockOffsetSeconds: diagnosis?.clockOffsetSeconds,
    secret: secrets.length > 1 ? diagnosis?.secret : undefined,
    event,
    repeatOf: event && earlier.find((one) => one.verdict !== 'bad' && one.event?.id === event.id)?.number,
    resendOf: arrival.resendOf,
    answer: undefined,
    forwarded: undefined,
  };
}

function eventIn(body: Buffer): CapturedEvent | undefined {
  try {
    const value = JSON.parse(body.toString('utf8')) as Record<string, unknown> | null;
    const { id, type } = value ?? {};
    if (typeof id !== 'string' || typeof type !== 'string') return undefined;
    return { id, type, endpoint: value && 'account' in value ? 'account' : 'company' };
  } catch {
    return undefined;
  }
}
