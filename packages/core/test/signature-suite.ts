import { describe, expect, test } from '@jest/globals';
import type * as core from '../src/index.ts';
import {
  bodyOf,
  codeOf,
  keepingLogger,
  NOW,
  OLDER_SECRET,
  request,
  SECRET,
  thrownBy,
  watchedStore,
} from './support.ts';
import { vectors } from './vectors.ts';

/** Everything about signatures, to be run on each implementation of HMAC. */
export function signatureSuite({ createReceiver, signDelivery, verifySignature }: typeof core): void {
  const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));

  for (const [group, all] of Object.entries(vectors)) {
    describe(group, () => {
      for (const { name, id, header, secrets, result } of all) {
        test(`${name}: ${result}`, async () => {
          const body = bodyOf(id);
          expect(await verifySignature({ signature: header, body, secret: secrets, receivedAt: NOW })).toEqual(
            result === 'accepted'
              ? { ok: true, endpoint: undefined, timestamp: Number(/t\s*=(\d+)/.exec(header)?.[1]) }
              : { ok: false, reason: result },
          );
        });

        test(`${name}: the receiver says the same`, async () => {
          const store = watchedStore();
          const logger = keepingLogger();
          let handled = 0;
          const receiver = createReceiver({
            secret: secrets,
            store,
            logger,
            nowSeconds: () => NOW,
            handler: () => {
              handled++;
            },
          });
          const answer = await receiver.receive(
            request({ headers: { 'factuarea-signature': header }, body: bodyOf(id) }),
          );
          const accepted = result === 'accepted';
          expect(answer.status).toBe(accepted ? 200 : 401);
          expect(codeOf(answer)).toBe(accepted ? 'handled' : 'invalid_signature');
          expect(handled).toBe(accepted ? 1 : 0);
          expect(store.calls).toEqual(accepted ? [`claim ${id}`, 'done'] : []);
          if (!accepted) expect(logger.lines.map((line) => line.fields['reason'])).toEqual([result]);
        });
      }
    });
  }

  test('a digest that is wrong in one place does not hold, wherever that is', async () => {
    const body = bodyOf('place');
    const signature = await signDelivery({ body, secret: SECRET, timestamp: NOW });
    const digest = signature.slice(-64);
    for (let at = 0; at < 64; at++) {
      const wrong = digest.slice(0, at) + (digest[at] === '0' ? '1' : '0') + digest.slice(at + 1);
      expect(
        await verifySignature({ signature: `t=${NOW},v1=${wrong}`, body, secret: SECRET, receivedAt: NOW }),
      ).toEqual({ ok: false, reason: 'signature_mismatch' });
    }
  });

  describe('where the header is found', () => {
    const h = 't=1767225600,v1=d47e2be34eae3daa230e5baacfee90322cbfea13ff64a17808126ac352790c2c';
    const verify = (signature: core.VerifyOptions['signature']): Promise<core.Verified> =>
      verifySignature({ signature, body: bodyOf('evt_b16'), secret: SECRET, receivedAt: NOW });

    test.each([
      ['the value', h],
      ['an array of one', [h]],
      ['the documented spelling', { 'Factuarea-Signature': h }],
      ['lower case', { 'factuarea-signature': h }],
      ['upper case', { 'FACTUAREA-SIGNATURE': h }],
      ['a Headers', new Headers({ 'Factuarea-Signature': h })],
      ['a Map', new Map([['factuarea-signature', h]])],
      ['a Map in the documented spelling', new Map([['Factuarea-Signature', h]])],
      ['an array in an object', { 'factuarea-signature': [h] }],
      ['an object without a prototype', Object.assign(Object.create(null), { 'factuarea-signature': h })],
    ])('%s', async (_name, signature) => {
      expect(await verify(signature)).toMatchObject({ ok: true });
    });

    test.each([
      ['an array of two', { 'factuarea-signature': [h, h] }],
      ['two spellings', { 'factuarea-signature': h, 'Factuarea-Signature': h.replace('d4', 'd5') }],
      ['two spellings with one value', { 'factuarea-signature': h, 'Factuarea-Signature': h }],
    ])('%s is malformed', async (_name, signature) => {
      expect(await verify(signature)).toEqual({ ok: false, reason: 'signature_malformed' });
    });

    test.each([
      ['undefined', undefined],
      ['null', null],
      ['an empty text', ''],
      ['no headers', {}],
      ['an undefined header', { 'factuarea-signature': undefined }],
      ['an empty array', { 'factuarea-signature': [] }],
      ['a Headers without it', new Headers()],
      ['a Map without it', new Map<string, string>()],
      ['another header', { 'x-factuarea-signature': h }],
    ])('%s is missing', async (_name, signature) => {
      expect(await verify(signature)).toEqual({ ok: false, reason: 'signature_missing' });
    });
  });

  describe('the bytes that are signed', () => {
    const header = 't=1767225600,v1=26e38aac4c40679d9fae08a495bed5a800329804543f734529aa57acf27fcc15';
    const exact = hex(
      '7b20226964223a20226576745f623032222c20202274797065223a22696e766f6963652e70616964222c2264617461223a7b22746f74616c223a312e302c226e6f7465223a226361665c7530306539205c2f205c75643833645c7564653030222c22626967223a393030373139393235343734303939337d7d0a',
    );
    const verify = (body: Uint8Array | string): Promise<core.Verified> =>
      verifySignature({ signature: header, body, secret: SECRET, receivedAt: NOW });

    test('hold as they arrived', async () => {
      expect(await verify(exact)).toMatchObject({ ok: true });
      expect(await verify(Buffer.from(exact))).toMatchObject({ ok: true });
      expect(await verify(new TextDecoder().decode(exact))).toMatchObject({ ok: true });
    });

    test('hold inside a larger buffer', async () => {
      const larger = new Uint8Array(exact.length + 20).fill(32);
      larger.set(exact, 7);
      expect(await verify(larger.subarray(7, 7 + exact.length))).toMatchObject({ ok: true });
      expect(await verify(larger)).toEqual({ ok: false, reason: 'signature_mismatch' });
    });

    test('do not hold parsed and written again', async () => {
      const again = JSON.stringify(JSON.parse(new TextDecoder().decode(exact)));
      expect(again).toContain('caf\u00e9');
      expect(await verify(again)).toEqual({ ok: false, reason: 'signature_mismatch' });
    });

    test('can be none', async () => {
      const signature = 't=1767225600,v1=cc8eedcc3f3959909e1b1514769b7de8f8b5a27a6286ae973a1a56518dcf912a';
      expect(await verifySignature({ signature, body: '', secret: SECRET, receivedAt: NOW })).toMatchObject({
        ok: true,
      });
    });

    test.each([
      ['a parsed body', { id: '1' }],
      ['undefined', undefined],
      ['null', null],
      ['a list of numbers', [1, 2]],
    ])('%s is refused with a hint', async (_name, body) => {
      const error = await thrownBy(() =>
        verifySignature({ signature: header, body: body as unknown as string, secret: SECRET }),
      );
      expect(error).toMatchObject({ code: 'config_error', message: expect.stringContaining('raw body') });
    });
  });

  describe('the age of a signature', () => {
    const stale = 't=1767221600,v1=d5761afe737ffe358a09b92110b4583c102bcbd5dfb65b38963330c3a46aead1';

    test('is checked without `toleranceSeconds` too', async () => {
      expect(
        await verifySignature({ signature: stale, body: bodyOf('evt_b23'), secret: SECRET, receivedAt: NOW }),
      ).toEqual({ ok: false, reason: 'timestamp_out_of_tolerance' });
    });

    test('counts from when a queued delivery arrived', async () => {
      const signature = 't=1767218400,v1=d8f4cb6d7d00010a2a91c60850df508584aa61888c6a645bc3ae365694d42778';
      const body = bodyOf('evt_b23');
      expect(await verifySignature({ signature, body, secret: SECRET, receivedAt: 1_767_218_401 })).toMatchObject({
        ok: true,
      });
      expect(await verifySignature({ signature, body, secret: SECRET, receivedAt: NOW })).toEqual({
        ok: false,
        reason: 'timestamp_out_of_tolerance',
      });
    });

    test('follows the clock where nothing is given', async () => {
      const body = bodyOf('now');
      expect(
        await verifySignature({ signature: await signDelivery({ body, secret: SECRET }), body, secret: SECRET }),
      ).toMatchObject({
        ok: true,
      });
    });

    test.each([Number.NaN, -1, 0, Number.POSITIVE_INFINITY, 86_401, '300', null])(
      'refuses a tolerance of %p',
      async (seconds) => {
        const error = await thrownBy(() =>
          verifySignature({
            signature: stale,
            body: bodyOf('evt_b23'),
            secret: SECRET,
            receivedAt: NOW,
            toleranceSeconds: seconds as number,
          }),
        );
        expect(error).toMatchObject({ code: 'config_error', message: expect.stringContaining('toleranceSeconds') });
      },
    );

    test.each([Number.NaN, Number.POSITIVE_INFINITY, '1767225600'])('refuses %p as a moment', async (receivedAt) => {
      const error = await thrownBy(() =>
        verifySignature({ signature: stale, body: '', secret: SECRET, receivedAt: receivedAt as number }),
      );
      expect(error).toMatchObject({ code: 'config_error', message: expect.stringContaining('receivedAt') });
    });

    test('a clock in milliseconds accepts nothing', async () => {
      const body = bodyOf('evt_b23');
      const signature = await signDelivery({ body, secret: SECRET, timestamp: NOW });
      expect(await verifySignature({ signature, body, secret: SECRET, receivedAt: NOW * 1000 })).toEqual({
        ok: false,
        reason: 'timestamp_out_of_tolerance',
      });
    });

    test('is that of the text in the header, leading zeros included', async () => {
      const body = bodyOf('zero');
      const [, digest] = (await signDelivery({ body, secret: SECRET, timestamp: NOW })).split(',');
      expect(
        await verifySignature({ signature: `t=0${NOW},${digest}`, body, secret: SECRET, receivedAt: NOW }),
      ).toEqual({ ok: false, reason: 'signature_mismatch' });
    });

    test.each(['', '-1', '+1', '1e9', '0x6955b900', ' ', '1767225600.0', '１７６７２２５６００', '1767225600 1'])(
      't=%p is malformed',
      async (t) => {
        const signature = `t=${t},v1=${'0'.repeat(64)}`;
        expect(await verifySignature({ signature, body: '', secret: SECRET, receivedAt: NOW })).toEqual({
          ok: false,
          reason: 'signature_malformed',
        });
      },
    );

    test.each([
      [0.9, true],
      [300.9, true],
      [-300, true],
      [301, false],
      [-300.1, false],
    ])('counts whole seconds: a clock %p s off', async (off, ok) => {
      const body = bodyOf('off');
      const signature = await signDelivery({ body, secret: SECRET, timestamp: NOW });
      expect(await verifySignature({ signature, body, secret: SECRET, receivedAt: NOW + off })).toMatchObject({ ok });
    });

    test('two t are malformed, though they are the same', async () => {
      const signature = `t=${NOW},t=${NOW},v1=${'0'.repeat(64)}`;
      expect(await verifySignature({ signature, body: '', secret: SECRET, receivedAt: NOW })).toEqual({
        ok: false,
        reason: 'signature_malformed',
      });
    });
  });

  describe('secrets', () => {
    const header = 't=1767225600,v1=1281d9e135164bab49f00daa3474f73fc87ac3c766284100e5cffb584eb6b3f1';

    test.each([
      'whsec_7Qm2Zr9tLk4XvB1nAe6H\n',
      ' whsec_7Qm2Zr9tLk4XvB1nAe6H',
      'whsec_7Qm2Zr9tLk4XvB1nAe6H\r\n',
      '\ufeffwhsec_7Qm2Zr9tLk4XvB1nAe6H',
    ])('%j is trimmed', async (secret) => {
      expect(
        await verifySignature({ signature: header, body: bodyOf('evt_b17'), secret, receivedAt: NOW }),
      ).toMatchObject({ ok: true });
    });

    test('the one that matched tells which endpoint delivered', async () => {
      const body = bodyOf('named');
      const secret = { company: SECRET, account: [`${SECRET}x`, OLDER_SECRET] };
      const signature = await signDelivery({ body, secret: OLDER_SECRET, timestamp: NOW });
      expect(await verifySignature({ signature, body, secret, receivedAt: NOW })).toEqual({
        ok: true,
        endpoint: 'account',
        timestamp: NOW,
      });
    });
  });

  describe('signDelivery', () => {
    test('gives the header that Factuarea sends', async () => {
      const options = { body: bodyOf('evt_b16'), secret: SECRET, timestamp: NOW };
      const header = 't=1767225600,v1=d47e2be34eae3daa230e5baacfee90322cbfea13ff64a17808126ac352790c2c';
      expect(await signDelivery(options)).toBe(header);
      expect(await signDelivery({ ...options, body: Buffer.from(options.body) })).toBe(header);
    });

    test('signs with each of several secrets, in their order', async () => {
      const body = bodyOf('evt_b13');
      expect(await signDelivery({ body, secret: [SECRET, OLDER_SECRET], timestamp: NOW })).toBe(
        't=1767225600,v1=4cdb9b77ca3921235bbb9779e351570927b4232c6f7860f113b9577db9f2af15,v1=45a9131931da4780e4a279ed40376c047f9c46dc653d0b439adec07eae6ffbb7',
      );
    });

    test('works on an empty and on a large body', async () => {
      for (const body of [new Uint8Array(), new Uint8Array(1_000_000).fill(200)]) {
        const signature = await signDelivery({ body, secret: SECRET, timestamp: NOW });
        expect(await verifySignature({ signature, body, secret: SECRET, receivedAt: NOW })).toMatchObject({ ok: true });
      }
    });

    test.each([-1, 1.5, Number.NaN, '1', 2 ** 53])('refuses %p as a timestamp', async (timestamp) => {
      const error = await thrownBy(() => signDelivery({ body: '', secret: SECRET, timestamp: timestamp as number }));
      expect(error).toMatchObject({ code: 'config_error', message: expect.stringContaining('timestamp') });
    });

    test.each(['', 'plain', []])('refuses %j as a secret', async (secret) => {
      expect(await thrownBy(() => signDelivery({ body: '', secret }))).toMatchObject({ code: 'config_error' });
    });
  });
}
