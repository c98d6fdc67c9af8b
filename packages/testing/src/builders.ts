import type { EventOf, FactuareaEvent, KnownEventType } from '@factuarea-webhook/core';
import { buildDelivery, checkCompanyType, type DeliveryOverrides, type FactuareaDelivery } from './delivery.ts';
import { uuidV7 } from './uuid.ts';

// Suggests the known types and takes any other.
type AnyType = KnownEventType | (string & {});

/** What `twinsOf` gives: one event at both endpoints. */
export interface Twins<Event extends FactuareaEvent = FactuareaEvent> {
  readonly company: FactuareaDelivery<Event>;
  readonly account: FactuareaDelivery<Event>;
}

/**
 * Builds a delivery to a company endpoint: a plausible event of this type, encoded byte for byte as Factuarea does.
 * What the facts do not fix about a resource is a sample.
 *
 * @throws `config_error` for an `account.*` type.
 * @example
 * ```ts
 * const delivery = companyDelivery('invoice.paid', { shape: 'legacy', resource: { amount: 121 } });
 * await fetch(url, { method: 'POST', body: delivery.body, headers: await delivery.headers('whsec_…') });
 * ```
 */
export function companyDelivery<Type extends AnyType>(
  type: Type,
  overrides: DeliveryOverrides = {},
): FactuareaDelivery<EventOf<Type> & FactuareaEvent> {
  checkCompanyType(type);
  return buildDelivery('company', type, overrides);
}

/**
 * Builds a delivery to an account endpoint: the envelope also names the account, its relationship and the company.
 *
 * @example
 * ```ts
 * accountDelivery('invoice.sent', { account_relationship: 'managed' });
 * ```
 */
export function accountDelivery<Type extends AnyType>(
  type: Type,
  overrides: DeliveryOverrides = {},
): FactuareaDelivery<EventOf<Type> & FactuareaEvent> {
  return buildDelivery('account', type, overrides);
}

/**
 * Builds one event as both endpoints send it: the same id, with different delivery ids, envelopes, API versions and
 * shapes of `data`. Its effect must happen once.
 *
 * @throws `config_error` for an `account.*` type, which has no company twin.
 * @example
 * ```ts
 * const { company, account } = twinsOf('invoice.sent');
 * company.event.id === account.event.id; // true
 * ```
 */
export function twinsOf<Type extends AnyType>(
  type: Type,
  overrides: Omit<DeliveryOverrides, 'shape' | 'api_version' | 'deliveryId' | 'data'> = {},
): Twins<EventOf<Type> & FactuareaEvent> {
  const shared = { id: uuidV7(), resourceId: uuidV7(), ...overrides };
  return {
    company: companyDelivery(type, { ...shared, shape: 'object' }),
    account: accountDelivery(type, { ...shared, shape: 'reference' }),
  };
}

/**
 * Builds the delivery that an endpoint's ping sends.
 *
 * @example
 * ```ts
 * await deliver(url, ping(), { secret: 'whsec_…' }); // { status: 200, body: '{"code":"pong"}', … }
 * ```
 */
export function ping(overrides: DeliveryOverrides = {}): FactuareaDelivery<EventOf<'webhook.ping'> & FactuareaEvent> {
  return companyDelivery('webhook.ping', overrides);
}
