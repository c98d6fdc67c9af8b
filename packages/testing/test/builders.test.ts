import { createdAt, type FactuareaEvent, isEvent, resourceOf, verifySignature } from '@factuarea-webhook/core';
import {
  accountDelivery,
  companyDelivery,
  phpJson,
  ping,
  redelivery,
  signDelivery,
  twinsOf,
  uuidV7,
} from '@factuarea-webhook/testing';
import { describe, expect, test } from '@jest/globals';
import { catalogue } from '../src/catalogue.ts';

const V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const SECRET = 'whsec_7Qm2Zr9tLk4XvB1nAe6H';
const OLDER = 'whsec_5Jd8Pw3yHs6TqUc0RfGz';

function parsed(delivery: { body: Uint8Array }): Record<string, unknown> {
  return JSON.parse(Buffer.from(delivery.body).toString('utf8')) as Record<string, unknown>;
}

describe('uuidV7', () => {
  test('is a UUID of version 7 that begins with its time', () => {
    expect(uuidV7()).toMatch(V7);
    expect(uuidV7(1_767_225_600_000)).toMatch(/^019b76da-a800-7/);
    expect(new Set(Array.from({ length: 1000 }, () => uuidV7())).size).toBe(1000);
  });
});

describe('phpJson', () => {
  // What PHP 8.2 wrote for the same values with JSON_PRESERVE_ZERO_FRACTION.
  test.each<[unknown, string]>([
    ['Peña 😀 / "\\', '"Pe\\u00f1a \\ud83d\\ude00 \\/ \\"\\\\"'],
    ['\u007f\u001f\u2028\b\f\n\r\t', '"\u007f\\u001f\\u2028\\b\\f\\n\\r\\t"'],
    [{ a: [], b: {}, c: null, d: true, e: undefined }, '{"a":[],"b":{},"c":null,"d":true}'],
    [{ amount: 121 }, '{"amount":121.0}'],
    [{ amount: 1210.555 }, '{"amount":1210.555}'],
    [{ amount: 1e17 }, '{"amount":1.0e+17}'],
    [{ amount: 1e16 }, '{"amount":10000000000000000.0}'],
    [{ rate: 1.5e-7 }, '{"rate":1.5e-7}'],
    [{ rate: 0.00001 }, '{"rate":1.0e-5}'],
    [{ rate: 0.0001 }, '{"rate":0.0001}'],
    [{ year: 2026, list: [1, 'a/b'] }, '{"year":2026,"list":[1,"a\\/b"]}'],
    [undefined, 'null'],
  ])('%j', (value, written) => {
    expect(phpJson(value)).toBe(written);
  });

  test('refuses what JSON cannot hold', () => {
    expect(() => phpJson({ amount: Number.NaN })).toThrow(expect.objectContaining({ code: 'config_error' }));
  });
});

describe('the company envelope', () => {
  test('has its fields in their order, and no others', () => {
    const delivery = companyDelivery('invoice.sent');
    expect(Object.keys(parsed(delivery))).toEqual([
      'id',
      'type',
      'api_version',
      'created',
      'livemode',
      'test',
      'correlation_id',
      'data',
    ]);
    expect(delivery.event.id).toMatch(V7);
    expect(delivery.id).toMatch(V7);
    expect(delivery.endpoint).toBe('company');
    expect(Buffer.from(delivery.body).toString()).toMatch(/^[\x20-\x7e]+$/);
  });

  test('takes every override', () => {
    const given = {
      id: 'evt_1',
      api_version: '2027-01-01',
      created: 7,
      livemode: true,
      test: false,
      correlation_id: 'c',
      data: { any: 'thing' },
    };
    expect(parsed(companyDelivery('invoice.sent', given))).toEqual({ type: 'invoice.sent', ...given });
    expect(companyDelivery('invoice.sent', { deliveryId: 'd' }).id).toBe('d');
  });

  test('is never sent for account events', () => {
    expect(() => companyDelivery('account.updated')).toThrow(expect.objectContaining({ code: 'config_error' }));
  });
});

describe('the account envelope', () => {
  test('names account, relationship and company before the data', async () => {
    const delivery = accountDelivery('invoice.sent', { account_relationship: 'managed' });
    expect(Object.keys(parsed(delivery)).slice(6)).toEqual([
      'correlation_id',
      'account',
      'account_relationship',
      'company_id',
      'data',
    ]);
    expect(delivery.event.company_id).toMatch(V7);
    expect(await delivery.headers(SECRET)).toHaveProperty('factuarea-account-relationship', 'managed');
  });

  test('has no company on account events', () => {
    expect(accountDelivery('account.updated').event.company_id).toBeNull();
  });
});

describe('the shapes of data', () => {
  test('newest: the whole resource, amounts as text', () => {
    const { event } = companyDelivery('invoice.sent', { resource: { metadata: { erp_id: '7' } } });
    expect(event.api_version).toBe('2026-09-23');
    expect(event.data).toMatchObject({
      type: 'invoice.sent',
      object: { object: 'invoice', total: '1210.00', metadata: { erp_id: '7' } },
    });
  });

  test('middle: a thin reference', () => {
    const { event } = companyDelivery('invoice.sent', { shape: 'reference', resourceId: 'r' });
    expect(event.data).toEqual({ invoice: { id: 'r' } });
  });

  test('oldest: fields of the type, amounts as floats, created as text', () => {
    const delivery = companyDelivery('invoice.paid', { shape: 'legacy', resourceId: 'r' });
    const { event } = delivery;
    expect(event.data).toMatchObject({ type: 'invoice.paid', invoice: { uuid: 'r', amount: 1210 } });
    expect(Buffer.from(delivery.body).toString()).toContain('"amount":1210.0,');
    expect(event.created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
    expect(createdAt(event)).toBeInstanceOf(Date);
  });

  test('follow api_version where no shape is given', () => {
    expect(companyDelivery('invoice.sent', { api_version: '2026-09-23' }).event.data).toHaveProperty('object');
    expect(companyDelivery('invoice.sent', { api_version: '2026-01-01' }).event.data).toHaveProperty('invoice');
    expect(companyDelivery('invoice.sent', { api_version: null }).event.data).toHaveProperty('invoice');
  });

  test('name the same resource for every known type', () => {
    for (const [type, { resource, extra, fields }] of Object.entries(catalogue)) {
      for (const shape of ['object', 'reference', 'legacy'] as const) {
        const { event } = companyDelivery(type, { shape, resourceId: 'r' });
        expect([type, shape, resourceOf(event)]).toEqual([type, shape, { type: resource, id: 'r' }]);
        if (shape === 'legacy') {
          const data = event.data as Record<string, object>;
          expect(Object.keys(data).sort()).toEqual(['type', resource, ...Object.keys(extra)].sort());
          expect(Object.keys(data[resource] as object).sort()).toEqual(Object.keys(fields).sort());
        }
        expect(JSON.stringify(event)).not.toContain('<id>');
      }
    }
  });

  test('exist for a type that nobody knows', () => {
    expect(companyDelivery('ledger.closed', { shape: 'reference', resourceId: 'r' }).event.data).toEqual({
      ledger: { id: 'r' },
    });
    expect(companyDelivery('constructor', { shape: 'legacy', resourceId: 'r' }).event.data).toEqual({
      type: 'constructor',
      constructor: { uuid: 'r' },
    });
  });
});

describe('headers', () => {
  test('hold what Factuarea sends, and verify', async () => {
    const delivery = companyDelivery('invoice.sent', { headers: { 'x-tenant': '7' } });
    const headers = await delivery.headers([SECRET, OLDER], 1_767_225_600);
    expect(headers).toEqual({
      'x-tenant': '7',
      'content-type': 'application/json',
      'factuarea-signature': expect.stringMatching(/^t=1767225600,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/),
      'factuarea-event-id': delivery.event.id,
      'factuarea-event-type': 'invoice.sent',
      'factuarea-delivery-id': delivery.id,
      'idempotency-key': delivery.event.id,
    });
    for (const secret of [SECRET, OLDER]) {
      const verified = await verifySignature({
        signature: headers,
        body: delivery.body,
        secret,
        receivedAt: 1_767_225_600,
      });
      expect(verified.ok).toBe(true);
    }
  });

  test('are those of signDelivery', async () => {
    const { body, headers } = companyDelivery('invoice.sent');
    expect((await headers(SECRET, 5))['factuarea-signature']).toBe(
      await signDelivery({ body, secret: SECRET, timestamp: 5 }),
    );
  });
});

describe('twins, pings and redeliveries', () => {
  test('twins are one event in two envelopes, versions and deliveries', () => {
    const { company, account } = twinsOf('invoice.sent', { correlation_id: 'c' });
    expect(account.event.id).toBe(company.event.id);
    expect(account.id).not.toBe(company.id);
    expect(account.event.api_version).not.toBe(company.event.api_version);
    expect(resourceOf(account.event)).toEqual(resourceOf(company.event));
    expect([company.event.correlation_id, account.event.correlation_id]).toEqual(['c', 'c']);
    expect(company.event).not.toHaveProperty('account');
    expect(account.event).toHaveProperty('account');
  });

  test('a ping is about no resource', () => {
    expect(ping().event).toMatchObject({ type: 'webhook.ping', data: {} });
  });

  test('a redelivery keeps the bytes and changes the delivery', async () => {
    const first = companyDelivery('invoice.sent');
    const second = redelivery(first);
    expect(second.body).toBe(first.body);
    expect(second.id).not.toBe(first.id);
    expect(await second.headers(SECRET, 1)).toEqual({
      ...(await first.headers(SECRET, 1)),
      'factuarea-delivery-id': second.id,
    });
  });

  test('an event is typed by its type', () => {
    const event: FactuareaEvent = companyDelivery('invoice.paid', { shape: 'legacy' }).event;
    if (!isEvent(event, 'invoice.paid') || !('invoice' in event.data) || !('amount' in event.data.invoice)) {
      throw new Error('The builder gave another event.');
    }
    const amount: number = event.data.invoice.amount;
    expect(amount).toBe(1210);
  });
});
