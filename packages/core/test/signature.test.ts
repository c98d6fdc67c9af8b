import { expect, jest, test } from '@jest/globals';
import * as core from '../src/index.ts';
import { signatureSuite } from './signature-suite.ts';

test('this is the HMAC of node:crypto', async () => {
  const sign = jest.spyOn(crypto.subtle, 'sign');
  expect(await core.signDelivery({ body: '', secret: 'whsec_a' })).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  expect(sign).not.toHaveBeenCalled();
  sign.mockRestore();
});

signatureSuite(core);
