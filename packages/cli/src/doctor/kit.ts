import { signDelivery } from '@factuarea-webhook/core';
import { phpJson, uuidV7 } from '@factuarea-webhook/testing';
import { resourceIdFor, type Wanted } from '../play/wanted.ts';
import { type HandledList, handledList } from './handled.ts';
import { type Connection, type Reply, send } from './wire.ts';

/** What to judge, and how. */
export interface Subject {
  readonly url: URL;
  /** The endpoint's secrets; the first signs unless a check needs another. */
  readonly secrets: readonly string[];
  /** Where the receiver lists what it has handled. */
  readonly handled?: URL | undefined;
  /** The event type that is sent, one that the receiver handles. */
  readonly type: string;
  /** The event's `data`; made up where it is left out. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  /** Events whose handler fails at its first run of each. */
  readonly fails?: Wanted | undefined;
  /** Events whose handler takes its time. */
  readonly slow?: Wanted | undefined;
  /** The endpoint's `timeout_seconds`. */
  readonly timeoutSeconds: number;
  /** Custom headers of the endpoint, sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Event extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly type: string;
}

/** How one delivery differs from a proper one. */
export interface How {
  /** Seconds between now and `t`. */
  readonly clock?: number;
  /** What signs, instead of the first secret. */
  readonly secrets?: readonly string[];
  /** Rewrites the signature header; null leaves it out. */
  readonly signature?: (header: string, body: Uint8Array) => string | null;
  /** Sends other bytes than were signed. */
  readonly tamper?: (body: string) => string;
  /** Added to the headers, or instead of them; undefined leaves one out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly headerCase?: 'lower' | 'upper';
  readonly method?: string;
  readonly deliveryId?: string;
  /** Byte offsets at which the body is cut into several writes. */
  readonly cuts?: readonly number[];
  readonly pauseMs?: number;
  readonly hold?: Promise<void>;
  readonly chunked?: boolean;
  readonly cut?: boolean;
  readonly connection?: Connection;
}

/** Stands in every event, to see whether an answer gives the payload back. */
export const CANARY = 'doctor-canary-5b1e';

/** What checks work with: it makes events, delivers them and remembers what every answer was. */
export interface Kit {
  readonly subject: Subject;
  readonly handled: HandledList | undefined;
  /** A new event with a new id. Small, and unchanged by any re-serialisation. */
  event(more?: Readonly<Record<string, unknown>>): Event;
  /** A new event that the receiver's set-up treats specially; a usual one where nothing is wanted. */
  special(wanted: Wanted | undefined): Event;
  /** Delivers an event, or a body as it stands with the given event's headers. */
  deliver(event: Event, how?: How, body?: string): Promise<Reply>;
  /** Delivers until the receiver asks for no further attempt, as Factuarea would. */
  persist(event: Event, first: Reply): Promise<Reply>;
  /** Every answer so far, with what must not be in it. */
  readonly answers: readonly { readonly reply: Reply; readonly secretsOfIt: readonly string[] }[];
  /** Notes that the event must have been handled this often by the end. */
  expectRuns(event: Event, runs: number, title: string): void;
  readonly expected: readonly { readonly event: Event; readonly runs: number; readonly title: string }[];
}

export function makeKit(subject: Subject): Kit {
  // A retry keeps its delivery id, and a copy for another endpoint has one of its own.
  const deliveries = new WeakMap<Event, string>();
  const answers: { reply: Reply; secretsOfIt: string[] }[] = [];
  const expected: { event: Event; runs: number; title: string }[] = [];

  async function deliver(event: Event, how: How = {}, body: string = phpJson(event)): Promise<Reply> {
    const bytes = Buffer.from(body);
    const timestamp = Math.floor(Date.now() / 1000) + (how.clock ?? 0);
    const signed = await signDelivery({ body: bytes, secret: how.secrets ?? subject.secrets.slice(0, 1), timestamp });
    const signature = how.signature ? how.signature(signed, bytes) : signed;
    const sent = how.tamper ? Buffer.from(how.tamper(body)) : bytes;
    const deliveryId = how.deliveryId ?? deliveries.get(event) ?? uuidV7();
    deliveries.set(event, deliveryId);
    const reply = await send(
      subject.url,
      {
        headers: headersOf(event, signature, { ...how, deliveryId }, subject.headers),
        pieces: cutAt(sent, how.cuts ?? (how.hold ? [sent.length - 1] : [])),
        ...(how.method !== undefined && { method: how.method }),
        ...(how.pauseMs !== undefined && { pauseMs: how.pauseMs }),
        ...(how.hold && { hold: how.hold }),
        ...(how.chunked && { chunked: true }),
        ...(how.cut && { cut: true }),
        ...(how.connection && { connection: how.connection }),
      },
      subject.timeoutSeconds * 1000,
    );
    const digests = signed
      .split('v1=')
      .slice(1)
      .map((digest) => digest.slice(0, 64));
    answers.push({ reply, secretsOfIt: [...subject.secrets, ...digests] });
    return reply;
  }

  return {
    subject,
    answers,
    expected,
    handled: subject.handled && handledList(subject.handled),
    expectRuns: (event, runs, title) => expected.push({ event, runs, title }),
    event: (more = {}) => makeEvent(subject, more),
    special: (wanted) =>
      makeEvent(subject, wanted && 'type' in wanted ? { type: wanted.type } : {}, resourceIdFor(wanted)),
    deliver,
    async persist(event, first) {
      let reply = first;
      // A claim that its owner has lost is free again after its lease, which is seldom longer than this.
      for (let waited = 0; isRetryable(reply) && waited < 6000; ) {
        const wait = Math.min(Math.max(Number(reply.headers['retry-after']) * 1000 || 0, 250), 1000);
        await new Promise((resolve) => setTimeout(resolve, wait));
        waited += wait;
        reply = await deliver(event);
      }
      return reply;
    },
  };
}

function isRetryable({ status }: Reply): boolean {
  return status !== undefined && (status >= 500 || [408, 425, 429].includes(status));
}

function makeEvent({ type: usual, data }: Subject, more: Readonly<Record<string, unknown>>, id = uuidV7()): Event {
  const type = typeof more['type'] === 'string' ? more['type'] : usual;
  const resource = type.split('.')[0] ?? 'resource';
  return {
    id: uuidV7(),
    type,
    api_version: '2026-09-23',
    created: Math.floor(Date.now() / 1000),
    livemode: false,
    test: true,
    correlation_id: null,
    data: data ?? { type, object: { object: resource, id, reference: CANARY, total: '1210.00' } },
    ...more,
  };
}

function headersOf(
  event: Event,
  signature: string | null,
  how: How,
  custom: Readonly<Record<string, string>>,
): Record<string, string> {
  const all: Record<string, string | undefined> = {
    'User-Agent': 'factuarea-webhook doctor',
    Accept: '*/*',
    'Content-Type': 'application/json',
    'Factuarea-Signature': signature ?? undefined,
    'Factuarea-Event-Id': event.id,
    'Factuarea-Event-Type': event.type,
    'Factuarea-Delivery-Id': how.deliveryId,
    'Idempotency-Key': event.id,
    ...('account' in event && { 'Factuarea-Account-Relationship': String(event['account_relationship']) }),
    ...custom,
    ...how.headers,
  };
  const entries = Object.entries(all).flatMap(([name, value]): [string, string][] => {
    const spelt =
      how.headerCase === 'lower' ? name.toLowerCase() : how.headerCase === 'upper' ? name.toUpperCase() : name;
    return value === undefined ? [] : [[spelt, value]];
  });
  return Object.fromEntries(entries);
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const edges = [0, ...cuts, bytes.length];
  return edges.slice(1).map((end, at) => bytes.subarray(edges[at], end));
}
