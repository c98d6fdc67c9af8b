import { describe, expect, test } from '@jest/globals';
import { parseEvent } from '../src/events.ts';
import { createdAt, isEvent, resourceOf } from '../src/index.ts';

const ID = '0199d5a2-7c1e-7b3a-9f04-3a1d5c9e2b77';
const company = {
  id: ID,
  type: 'invoice.sent',
  api_version: '2026-09-23',
  created: 1_767_225_600,
  livemode: true,
  test: false,
  correlation_id: null,
  data: { type: 'invoice.sent', object: { object: 'invoice', id: 'inv-1', total: '1210.00' } },
};
const { data, ...before } = company;
const account = {
  ...before,
  account: { id: 'acc-1' },
  account_relationship: 'managed',
  company_id: 'com-1',
  data,
};

const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));

describe('reading an event', () => {
  test.each([
    ['the company endpoint’s envelope', company],
    ['the account endpoint’s envelope', account],
    ['an event about no one tax ID', { ...account, type: 'account.updated', company_id: null }],
    ['without `test`, as the CLI relays it', { ...company, test: undefined }],
    ['a type that nobody knows yet', { ...company, type: 'planet.discovered', data: {} }],
    ['nothing but id and type', { id: ID, type: 'webhook.ping' }],
  ])('%s', (_name, event) => {
    expect(parseEvent(bytes(event))).toEqual(JSON.parse(JSON.stringify(event)));
  });

  test('escapes and white space of the body do not matter', () => {
    expect(
      parseEvent(bytes('\n{ "id" : "\\u0061", "type":"b.c" ,"data":{"name":"caf\\u00e9 \\/ \\ud83d\\ude00"}}\r\n')),
    ).toEqual({
      id: 'a',
      type: 'b.c',
      data: { name: 'café / 😀' },
    });
  });

  test('a key named __proto__ is a key like any other', () => {
    const event = parseEvent(bytes('{"id":"a","type":"b.c","__proto__":{"admin":true}}'));
    expect(Object.getPrototypeOf(event)).toBe(Object.prototype);
    expect(event).not.toHaveProperty('admin');
  });

  test.each([
    ['nothing', ''],
    ['no JSON', 'id=1&type=2'],
    ['half of it', '{"id":"a","type":"b'],
    ['two of it', '{"id":"a","type":"b"}{}'],
    ['NaN', '{"id":"a","type":"b","data":NaN}'],
  ])('%s is not JSON', (_name, body) => {
    expect(parseEvent(bytes(body))).toBe('not_json');
  });

  test('bytes that are no UTF-8 are not read, since two ids could become one', () => {
    for (const wrong of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98]]) {
      const body = Uint8Array.from([...bytes('{"type":"b.c","id":"'), ...wrong, ...bytes('"}')]);
      expect(parseEvent(body)).toBe('not_json');
    }
  });

  test('a byte order mark before the body is passed over', () => {
    expect(parseEvent(Uint8Array.from([0xef, 0xbb, 0xbf, ...bytes(company)]))).toMatchObject({ id: ID });
  });

  test.each(['null', '[]', '"text"', '1', 'true', '[{"id":"a","type":"b"}]'])('%s is no object', (body) => {
    expect(parseEvent(bytes(body))).toBe('not_an_object');
  });

  const oddities = [
    ['missing', undefined],
    ['null', null],
    ['a number', 7],
    ['an object', {}],
    ['an array', ['a']],
    ['empty', ''],
    ['a space', ' '],
    ['with a space', 'a b'],
    ['with a line break', 'a\n'],
    ['with a tab', 'a\tb'],
    ['with NUL', 'a\u0000'],
    ['with a delete', 'a\u007f'],
    ['with a no-break space', 'a\u00a0b'],
    ['with a zero-width space', 'a\u200bb'],
    ['with a byte order mark', 'a\ufeff'],
    ['with half a surrogate pair', 'a\ud800'],
    ['with a right-to-left override', 'a\u202eb'],
    ['256 characters long', 'a'.repeat(256)],
  ] as const;

  test.each(oddities)('an id that is %s', (_name, id) => {
    expect(parseEvent(bytes({ id, type: 'b.c' }))).toBe('bad_id');
  });

  test.each(oddities)('a type that is %s', (_name, type) => {
    expect(parseEvent(bytes({ id: 'a', type }))).toBe('bad_type');
  });

  test.each([
    'a',
    ID,
    ID.toUpperCase(),
    'évènement',
    '事件',
    '👩‍💻',
    '__proto__',
    "';--",
    '*',
    '$1',
    'a'.repeat(255),
    '😀'.repeat(255),
  ])('%j is an id, kept as it is', (id) => {
    expect(parseEvent(bytes({ id, type: 'b.c' }))).toMatchObject({ id });
  });
});

describe('resourceOf', () => {
  test.each([
    ['the newest shape', 'invoice.sent', data, { type: 'invoice', id: 'inv-1' }],
    ['the middle shape', 'invoice.sent', { invoice: { id: 'inv-1' } }, { type: 'invoice', id: 'inv-1' }],
    [
      'the oldest shape',
      'invoice.paid',
      { type: 'invoice.paid', invoice: { uuid: 'inv-1', amount: 121 } },
      { type: 'invoice', id: 'inv-1' },
    ],
    [
      'a key that is not the category',
      'recurring_invoice.executed',
      { type: 'recurring_invoice.executed', occurrence_number: 3, invoice: { uuid: 'inv-1', number: null } },
      { type: 'invoice', id: 'inv-1' },
    ],
    [
      'the category before another resource',
      'quote.converted',
      { target: { uuid: 'inv-2' }, quote: { uuid: 'quo-1' } },
      { type: 'quote', id: 'quo-1' },
    ],
    [
      'a category of two words',
      'delivery_note.signed',
      { delivery_note: { id: 'del-1' } },
      { type: 'delivery_note', id: 'del-1' },
    ],
    [
      'a type that nobody knows yet',
      'planet.discovered',
      { type: 'planet.discovered', object: { object: 'planet', id: 'pla-1' } },
      { type: 'planet', id: 'pla-1' },
    ],
  ])('%s', (_name, type, shape, resource) => {
    expect(resourceOf({ type, data: shape })).toEqual(resource);
  });

  test.each([
    ['no data', undefined],
    ['null', null],
    ['a text', 'invoice'],
    ['an empty object', {}],
    ['an empty array', []],
    ['no id', { invoice: {} }],
    ['a number as id', { invoice: { id: 7 } }],
    ['null as resource', { invoice: null }],
  ])('%s names no resource', (_name, shape) => {
    expect(resourceOf({ type: 'invoice.sent', data: shape })).toBeUndefined();
  });

  test('a category that every object inherits names nothing', () => {
    expect(resourceOf({ type: 'constructor.called', data: {} })).toBeUndefined();
    expect(resourceOf({ type: '__proto__.x', data: {} })).toBeUndefined();
  });
});

describe('createdAt', () => {
  test.each([
    ['Unix seconds', 1_767_225_600],
    ['ISO 8601', '2026-01-01T00:00:00Z'],
    ['ISO 8601 with an offset', '2026-01-01T01:00:00+01:00'],
    ['ISO 8601 with microseconds', '2026-01-01T00:00:00.000000Z'],
  ])('reads %s', (_name, created) => {
    expect(createdAt({ created })?.toISOString()).toBe('2026-01-01T00:00:00.000Z');
  });

  test.each([undefined, null, '', 'yesterday', Number.NaN, Number.POSITIVE_INFINITY, 1e20, {}, true])(
    'gives nothing for %p',
    (created) => {
      expect(createdAt({ created })).toBeUndefined();
    },
  );
});

test('isEvent tells by the type alone', () => {
  expect(isEvent(company, 'invoice.sent')).toBe(true);
  expect(isEvent(company, 'invoice.Sent')).toBe(false);
  expect(isEvent(company, 'invoice')).toBe(false);
});
