import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseEvent } from '../src/events.ts';
import { createReceiver, hasCode, signDelivery, verifySignature } from '../src/index.ts';
import { secretKeys } from '../src/secrets.ts';
import { readSignature } from '../src/signature.ts';
import { codeOf, NOW, request, SECRET, type WatchedStore, watchedStore } from './support.ts';

const runs = { numRuns: 300 };
const bytes = fc.uint8Array({ maxLength: 300 });
const hex64 = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 });
const secret = fc
  .string({ unit: fc.constantFrom(...'abcXYZ019_-+/=.'), minLength: 1, maxLength: 60 })
  .map((text) => `whsec_${text}`);
const item = fc.oneof(
  fc
    .constantFrom('t', 'v1', 'v0', 'T', '__proto__', '', ' t', 'v1 ')
    .chain((name) =>
      fc
        .oneof(fc.string(), hex64, fc.constantFrom(String(NOW), String(NOW - 299), `${NOW}000`, '-1', '0', ''))
        .map((value) => `${name}=${value}`),
    ),
  fc.string({ unit: 'binary' }),
);
/** Headers near to real ones and far from them, never with a digest that holds but by a chance of 2^-256. */
const header = fc.oneof(
  fc.array(item, { maxLength: 8 }).chain((items) => fc.constantFrom(',', ', ', ',,', ';').map((by) => items.join(by))),
  fc.string({ unit: 'binary', maxLength: 200 }),
  hex64.map((digest) => `t=${NOW},v1=${digest}`),
);
const headerValue = fc.oneof(header, fc.array(header, { maxLength: 3 }), fc.constantFrom(undefined, null));

function setUp(): {
  receive: (headers: Record<string, unknown>, body: Uint8Array) => Promise<[number, string]>;
  store: WatchedStore;
  handled: () => number;
} {
  const store = watchedStore();
  let handled = 0;
  const receiver = createReceiver({
    secret: SECRET,
    store,
    logger: { info() {}, warn() {}, error() {} },
    nowSeconds: () => NOW,
    handler: () => {
      handled++;
    },
  });
  return {
    store,
    handled: () => handled,
    async receive(headers, body) {
      const answer = await receiver.receive(request({ headers: headers as Record<string, string>, body }));
      return [answer.status, codeOf(answer)];
    },
  };
}

describe('whatever comes', () => {
  test('a signature that does not hold is answered 401, and the store is not touched', async () => {
    const { receive, store, handled } = setUp();
    await fc.assert(
      fc.asyncProperty(headerValue, bytes, async (signature, body) => {
        expect(await receive({ 'factuarea-signature': signature }, body)).toEqual([401, 'invalid_signature']);
      }),
      runs,
    );
    expect([store.calls, handled()]).toEqual([[], 0]);
  });

  test('no header gets a 5xx out of a bad signature, but a body that came short', async () => {
    const { receive, store, handled } = setUp();
    const headers = fc.record({
      'factuarea-signature': headerValue,
      'content-length': fc.oneof(fc.string(), fc.nat().map(String), fc.constant(undefined)),
      'content-encoding': fc.oneof(fc.string(), fc.constantFrom('gzip', 'identity', undefined)),
      'factuarea-delivery-id': fc.oneof(fc.string({ unit: 'binary' }), fc.array(fc.string())),
    });
    await fc.assert(
      fc.asyncProperty(headers, bytes, async (all, body) => {
        const [status, code] = await receive(all, body);
        const short = Number(all['content-length']) > body.length;
        expect([401, 413, 415, ...(short ? [503] : [])]).toContain(status);
        if (status === 503) expect(code).toBe('body_incomplete');
      }),
      runs,
    );
    expect([store.calls, handled()]).toEqual([[], 0]);
  });

  test('under a good signature it is an event, or it is answered 400 and leaves no claim', async () => {
    const event = fc.record(
      {
        id: fc.oneof(fc.string({ unit: 'binary' }), fc.uuid(), fc.anything()),
        type: fc.oneof(fc.string(), fc.constant('a.b')),
      },
      { requiredKeys: [] },
    );
    const body = fc.oneof(
      bytes,
      fc.json().map((text) => new TextEncoder().encode(text)),
      event.map((value) => new TextEncoder().encode(JSON.stringify(value))),
    );
    await fc.assert(
      fc.asyncProperty(body, async (text) => {
        const { receive, store, handled } = setUp();
        const signature = await signDelivery({ body: text, secret: SECRET, timestamp: NOW });
        const [status] = await receive({ 'factuarea-signature': signature }, text);
        const read = parseEvent(text);
        if (typeof read === 'string') {
          expect([status, store.calls, handled()]).toEqual([400, [], 0]);
        } else {
          expect([status, store.calls, handled()]).toEqual([200, [`claim ${read.id}`, 'done'], 1]);
        }
      }),
      runs,
    );
  });
});

describe('signatures', () => {
  test('hold over every body, with every secret, at every moment', async () => {
    await fc.assert(
      fc.asyncProperty(
        bytes,
        fc.array(secret, { minLength: 1, maxLength: 3 }),
        fc.nat(),
        async (body, secrets, timestamp) => {
          const signature = await signDelivery({ body, secret: secrets, timestamp });
          for (const one of secrets) {
            expect(await verifySignature({ signature, body, secret: one, receivedAt: timestamp })).toMatchObject({
              ok: true,
              timestamp,
            });
          }
        },
      ),
      runs,
    );
  });

  test('do not hold when one bit of the body, the digest or the time is another', async () => {
    const flip = (array: Uint8Array, bit: number): Uint8Array =>
      array.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 100 }), fc.nat(), async (body, seed) => {
        const signature = await signDelivery({ body, secret: SECRET, timestamp: NOW });
        const digest = signature.slice(-64);
        const other = Buffer.from(flip(Buffer.from(digest, 'hex'), seed % 256)).toString('hex');
        const wrong = [
          { signature, body: flip(body, seed % (body.length * 8)) },
          { signature: signature.replace(digest, other), body },
          { signature: signature.replace(`t=${NOW}`, `t=${NOW + 1 + (seed % 200)}`), body },
        ];
        for (const parts of wrong) {
          expect(await verifySignature({ ...parts, secret: SECRET, receivedAt: NOW })).toEqual({
            ok: false,
            reason: 'signature_mismatch',
          });
        }
      }),
      runs,
    );
  });

  test('can be read from anything without throwing', async () => {
    await fc.assert(
      fc.property(headerValue, fc.double(), (value, now) => {
        const read = readSignature(value, now, 300);
        if (typeof read !== 'string') expect(Math.abs(Math.floor(now) - read.timestamp)).toBeLessThanOrEqual(300);
      }),
      runs,
    );
  });
});

test('secrets are taken or refused with a reason, and never shown', async () => {
  await fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary', minLength: 8 }),
        secret.map((one) => `${one}"x`),
      ),
      (value) => {
        try {
          expect(secretKeys(value)).toHaveLength(1);
          expect(value.trim()).toMatch(/^whsec_[!-~]+$/);
        } catch (error) {
          expect(hasCode(error, 'config_error')).toBe(true);
          expect((error as Error).message).not.toContain(value.trim());
        }
      },
    ),
    runs,
  );
});

test('bytes are read as an event or refused, and never throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (body) => {
      const read = parseEvent(body);
      if (typeof read === 'string') expect(['not_json', 'not_an_object', 'bad_id', 'bad_type']).toContain(read);
      else expect([typeof read.id, typeof read.type]).toEqual(['string', 'string']);
    }),
    runs,
  );
});
