import type { EventTypes } from './event-types/index.ts';

/** An event type that this version knows, such as `'invoice.sent'`. */
export type KnownEventType = keyof EventTypes;

/** What both envelopes hold. The names are those of the body, unchanged. */
export interface Envelope<Type extends string, Data> {
  /** The event's id: the same in every copy of it. Pass it downstream as an idempotency key. */
  readonly id: string;
  readonly type: Type;
  /** The date that the payload is pinned to. Two endpoints can be pinned to different ones. */
  readonly api_version: string | null;
  /** Unix seconds; an ISO 8601 string in older payloads. `createdAt(event)` reads both. */
  readonly created: number | string;
  readonly livemode: boolean;
  readonly test?: boolean;
  /** Shared by several events of one operation. Not a key. */
  readonly correlation_id: string | null;
  readonly data: Data;
  /** On deliveries of account endpoints only. */
  readonly account?: { readonly id: string };
  /** On deliveries of account endpoints only. */
  readonly account_relationship?: 'own' | 'managed';
  /** On deliveries of account endpoints only; null where the event is not about one tax ID. */
  readonly company_id?: string | null;
}

/** `data` since API version 2026-09-23: the whole resource, amounts as strings. */
export type ObjectData<Type extends KnownEventType> = {
  readonly type: Type;
  readonly object: {
    readonly object: EventTypes[Type]['resource'];
    readonly id: string;
    readonly [field: string]: unknown;
  };
};

/** `data` in the middle API versions: a thin reference. */
export type ReferenceData<Type extends KnownEventType> = {
  readonly [Key in EventTypes[Type]['resource']]: { readonly id: string };
};

/** `data` in the oldest API versions: the resource's `uuid` and some fields, amounts as numbers. */
export type LegacyData<Type extends KnownEventType> = { readonly type: Type } & {
  readonly [Key in EventTypes[Type]['resource']]: Readonly<EventTypes[Type]['fields']>;
} & { readonly [Key in EventTypes[Type]['extra']]?: unknown };

/** The three shapes that `data` comes in, chosen by the endpoint's `api_version`. `'object' in data` is the newest. */
export type EventData<Type extends KnownEventType> = ObjectData<Type> | ReferenceData<Type> | LegacyData<Type>;

/** An event of a type that this version does not know. */
export interface UnknownEvent extends Envelope<string, Readonly<Record<string, unknown>>> {}

/** The event of one type: `EventOf<'invoice.sent'>`. */
export type EventOf<Type extends string> = Type extends KnownEventType
  ? Envelope<Type, EventData<Type>>
  : Envelope<Type, Readonly<Record<string, unknown>>>;

/** Any event. `isEvent(event, 'invoice.sent')` narrows it to one type. */
export type FactuareaEvent = { [Type in KnownEventType]: EventOf<Type> }[KnownEventType] | UnknownEvent;

/**
 * Whether an event is of the given type, for the type checker too.
 *
 * @example
 * ```ts
 * if (isEvent(event, 'invoice.paid') && 'invoice' in event.data) console.log(event.data.invoice);
 * ```
 */
export function isEvent<Type extends string>(event: { readonly type: string }, type: Type): event is EventOf<Type> {
  return event.type === type;
}

/**
 * When the event happened, from either form of `created`; undefined where it is neither.
 *
 * @example
 * ```ts
 * createdAt({ created: 1767225600 })?.toISOString(); // '2026-01-01T00:00:00.000Z'
 * ```
 */
export function createdAt(event: { readonly created?: unknown }): Date | undefined {
  const { created } = event;
  if (typeof created !== 'number' && typeof created !== 'string') return undefined;
  const date = new Date(typeof created === 'number' ? created * 1000 : created);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/**
 * The resource that an event is about, in each of the three shapes of `data`; undefined where it names none.
 *
 * @example
 * ```ts
 * resourceOf({ type: 'invoice.sent', data: { invoice: { id: '0199…' } } }); // { type: 'invoice', id: '0199…' }
 * ```
 */
export function resourceOf(event: {
  readonly type: string;
  readonly data?: unknown;
}): { type: string; id: string } | undefined {
  const data = record(event.data);
  const object = record(data['object']);
  if (typeof object['object'] === 'string' && typeof object['id'] === 'string') {
    return { type: object['object'], id: object['id'] };
  }
  const category = event.type.split('.', 1)[0] as string;
  // `recurring_invoice.executed` is about an `invoice`, so the category's key comes first but is not the only one.
  for (const type of [category, ...Object.keys(data)]) {
    if (!Object.hasOwn(data, type)) continue;
    const { id, uuid } = record(data[type]);
    const found = id ?? uuid;
    if (typeof found === 'string') return { type, id: found };
  }
  return undefined;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

// Control characters, spaces and lone surrogates are no "visible characters": a database could refuse or fold them.
// Joiners stay allowed, since emoji are built with them.
const visible = /^(?:[^\p{Cc}\p{Cf}\p{Cs}\p{Z}]|\u200d){1,255}$/u;
// The same for nearly all of them, and in a tenth of the time.
const plain = /^[!-~]{1,255}$/;
// Fatal, because replacement characters would make two different ids one.
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Reads the event out of verified bytes; gives the reason where they are not one. */
export function parseEvent(body: Uint8Array): FactuareaEvent | 'not_json' | 'not_an_object' | 'bad_id' | 'bad_type' {
  let event: unknown;
  try {
    event = JSON.parse(decoder.decode(body));
  } catch {
    // The parser's own message quotes the payload, so it goes nowhere.
    return 'not_json';
  }
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return 'not_an_object';
  const { id, type } = event as { id?: unknown; type?: unknown };
  if (typeof id !== 'string' || !isVisible(id)) return 'bad_id';
  if (typeof type !== 'string' || !isVisible(type)) return 'bad_type';
  return event as FactuareaEvent;
}

function isVisible(text: string): boolean {
  return plain.test(text) || visible.test(text);
}
