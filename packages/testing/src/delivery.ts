import {
  type EventOf,
  type FactuareaEvent,
  FactuareaWebhookError,
  type KnownEventType,
  signDelivery,
} from '@factuarea-webhook/core';
import { catalogue } from './catalogue.ts';
import { phpJson } from './php-json.ts';
import { filled, objects } from './samples.ts';
import { uuidV7 } from './uuid.ts';

/** The endpoints that an event can be delivered to. The account's has a larger envelope. */
export type EndpointKind = 'company' | 'account';

/** The three shapes of `data`, from the newest to the oldest. */
export type DataShape = 'object' | 'reference' | 'legacy';

/** One event on its way to one endpoint. */
export interface FactuareaDelivery<Event extends FactuareaEvent = FactuareaEvent> {
  /** `Factuarea-Delivery-Id`: another one for every delivery of the same event. */
  readonly id: string;
  readonly endpoint: EndpointKind;
  readonly event: Event;
  /** Exactly the bytes that are sent and signed. */
  readonly body: Uint8Array;
  /**
   * The headers of one attempt, signed with one secret, or with two as during a rotation.
   *
   * @param timestamp Unix seconds. Default: now.
   */
  headers(secret: string | readonly string[], timestamp?: number): Promise<Record<string, string>>;
}

/** What a builder can be told. The envelope's fields have their names in the body. */
export interface DeliveryOverrides {
  readonly id?: string;
  /** `data` in the shape that belongs to it, unless `shape` is given. Default: that of `shape`, null for old ones. */
  readonly api_version?: string | null;
  /** Unix seconds, or text as in older payloads. Default: now, in the form that belongs to the shape. */
  readonly created?: number | string;
  readonly livemode?: boolean;
  readonly test?: boolean;
  readonly correlation_id?: string | null;
  readonly account?: { readonly id: string };
  readonly account_relationship?: 'own' | 'managed';
  readonly company_id?: string | null;
  /** Default: `'object'`. */
  readonly shape?: DataShape;
  /** The resource's id. Default: a new one. */
  readonly resourceId?: string;
  /** Fields to add to the resource, or to replace there: `{ metadata: { erp_id: '7' } }`. */
  readonly resource?: Readonly<Record<string, unknown>>;
  /** The whole of `data`, as it stands. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** `Factuarea-Delivery-Id`. Default: a new one. */
  readonly deliveryId?: string;
  /** The endpoint's custom headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

const NEWEST = '2026-09-23';

/** Builds one event for one endpoint. */
export function buildDelivery<Type extends string>(
  endpoint: EndpointKind,
  type: Type,
  overrides: DeliveryOverrides,
): FactuareaDelivery<EventOf<Type> & FactuareaEvent> {
  const shape = overrides.shape ?? shapeOf(overrides.api_version);
  const now = Date.now();
  const account = {
    account: overrides.account ?? { id: uuidV7(now) },
    account_relationship: overrides.account_relationship ?? 'own',
    company_id: overrides.company_id ?? (type.startsWith('account.') ? null : uuidV7(now)),
  };
  const event = {
    id: overrides.id ?? uuidV7(now),
    type,
    api_version: overrides.api_version ?? (shape === 'object' ? NEWEST : null),
    created: overrides.created ?? created(shape, now),
    livemode: overrides.livemode ?? false,
    test: overrides.test ?? true,
    correlation_id: overrides.correlation_id ?? null,
    ...(endpoint === 'account' && account),
    data: overrides.data ?? dataOf(type, shape, overrides.resourceId ?? uuidV7(now), overrides.resource ?? {}),
  };
  return wrap(endpoint, event as unknown as EventOf<Type> & FactuareaEvent, overrides);
}

/** Puts an event into its envelope: bytes, delivery id, headers. */
function wrap<Event extends FactuareaEvent>(
  endpoint: EndpointKind,
  event: Event,
  { deliveryId = uuidV7(), headers = {} }: Pick<DeliveryOverrides, 'deliveryId' | 'headers'>,
): FactuareaDelivery<Event> {
  const body = new TextEncoder().encode(phpJson(event));
  return withId({ id: deliveryId, endpoint, event, body }, headers);
}

/** The same bytes under a new delivery id, as a replay sends them, or a second subscription. */
export function redelivery<Event extends FactuareaEvent>(
  delivery: FactuareaDelivery<Event>,
  id: string = uuidV7(),
): FactuareaDelivery<Event> {
  return {
    ...delivery,
    id,
    headers: async (...signing) => ({ ...(await delivery.headers(...signing)), 'factuarea-delivery-id': id }),
  };
}

function withId<Event extends FactuareaEvent>(
  delivery: Omit<FactuareaDelivery<Event>, 'headers'>,
  custom: Readonly<Record<string, string>>,
): FactuareaDelivery<Event> {
  const { id, event, body } = delivery;
  return {
    ...delivery,
    headers: async (secret, timestamp) => ({
      ...custom,
      'content-type': 'application/json',
      'factuarea-signature': await signDelivery({ body, secret, ...(timestamp !== undefined && { timestamp }) }),
      'factuarea-event-id': headerValue(event.id),
      'factuarea-event-type': headerValue(event.type),
      'factuarea-delivery-id': id,
      'idempotency-key': headerValue(event.id),
      ...(event.account_relationship && { 'factuarea-account-relationship': event.account_relationship }),
    }),
  };
}

/** The UTF-8 bytes, one character each, as headers hold nothing else: Node and Fetch refuse an emoji as it stands. */
function headerValue(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function shapeOf(apiVersion: string | null | undefined): DataShape {
  if (apiVersion === undefined) return 'object';
  // Dates written year first compare as text.
  return apiVersion !== null && apiVersion >= NEWEST ? 'object' : 'reference';
}

function created(shape: DataShape, now: number): number | string {
  const seconds = Math.floor(now / 1000);
  return shape === 'legacy' ? new Date(seconds * 1000).toISOString().replace('.000Z', '+00:00') : seconds;
}

function dataOf(type: string, shape: DataShape, id: string, more: Readonly<Record<string, unknown>>): object {
  if (type === 'webhook.ping') return {};
  const known = Object.hasOwn(catalogue, type) ? catalogue[type as KnownEventType] : undefined;
  const resource = known?.resource ?? (type.split('.', 1)[0] as string);
  if (shape === 'object')
    return { type, object: { object: resource, id, ...objects[resource], metadata: {}, ...more } };
  if (shape === 'reference') return { [resource]: { id, ...more } };
  return {
    type,
    [resource]: { ...withIds(known?.fields ?? {}), uuid: id, ...more },
    ...withIds(known?.extra ?? {}),
  };
}

function withIds(samples: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(samples).map(([name, sample]) => [name, filled(sample)]));
}

/** @throws `config_error` for what only account endpoints are sent. */
export function checkCompanyType(type: string): void {
  if (type.startsWith('account.')) {
    throw new FactuareaWebhookError(
      'config_error',
      `\`${type}\` comes from account endpoints only: use accountDelivery.`,
    );
  }
}
