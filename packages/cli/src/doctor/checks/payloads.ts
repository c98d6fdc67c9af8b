import { uuidV7 } from '@factuarea-webhook/testing';
import { accepts, type Check } from '../check.ts';
import type { Kit } from '../kit.ts';

const group = 'Payloads';
const lenient = 'Read the fields you need, and pass over what you do not know. Only id and type are always there.';

const resource = (kit: Kit): string => kit.subject.type.split('.')[0] ?? 'resource';

/** What an account endpoint adds, in the place where it adds it. */
export function accountEnvelope(event: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { data, ...rest } = event;
  return { ...rest, account: { id: uuidV7() }, account_relationship: 'managed', company_id: uuidV7(), data };
}

export const payloadChecks: readonly Check[] = [
  accepts(group, {
    id: 'account-envelope',
    title: 'An account endpoint’s envelope is accepted',
    sent: 'an event with account, account_relationship and company_id',
    fix: lenient,
    event: (kit) => kit.event(accountEnvelope(kit.event())),
  }),
  accepts(group, {
    id: 'reference-payload',
    title: 'The older payload, a bare reference, is accepted',
    sent: 'an event whose data is {"invoice":{"id":"…"}}',
    fix: 'Handle every shape of data that your endpoints are pinned to, or pin them all to one api_version.',
    event: (kit) => kit.event({ api_version: '2025-01-01', data: { [resource(kit)]: { id: uuidV7() } } }),
  }),
  accepts(group, {
    id: 'oldest-payload',
    title: 'The oldest payload is accepted',
    sent: 'an event without api_version, with uuid for id and an ISO date in created',
    fix: 'Handle every shape of data that your endpoints are pinned to, or pin them all to one api_version.',
    event: (kit) =>
      kit.event({
        api_version: null,
        created: '2026-01-01T00:00:00Z',
        data: { type: kit.subject.type, [resource(kit)]: { uuid: uuidV7(), amount: 121.5 } },
      }),
  }),
  accepts(group, {
    id: 'bare-delivery',
    title: 'A delivery without the optional parts is accepted',
    sent: 'an event without test, Idempotency-Key and Factuarea-Delivery-Id, as factuarea listen forwards it',
    fix: `${lenient} Unsigned headers are for logs.`,
    event: (kit) => {
      const { test: _left, ...rest } = kit.event();
      return rest as ReturnType<Kit['event']>;
    },
    how: () => ({ headers: { 'Idempotency-Key': undefined, 'Factuarea-Delivery-Id': undefined } }),
  }),
  accepts(group, {
    id: 'unknown-fields',
    title: 'Unknown fields and headers are ignored',
    sent: 'an event with a field and a header that do not exist yet',
    fix: lenient,
    event: (kit) => kit.event({ made_up: { by: 'the doctor' } }),
    how: () => ({ headers: { 'Factuarea-Made-Up': '1' } }),
  }),
  accepts(group, {
    id: 'any-order',
    title: 'Events may come in any order',
    sent: 'an event created two days ago, after newer ones',
    fix: 'Do not refuse an older event: with retries over days, invoice.paid can come before invoice.sent.',
    event: (kit) => kit.event({ created: Math.floor(Date.now() / 1000) - 172_800 }),
  }),
];
