import { expect, jest, test } from '@jest/globals';
import type * as Core from '../src/index.ts';
import { signatureSuite } from './signature-suite.ts';

// What a bundler does for Workers and browsers: `#hmac` leads to the other file.
function loadForTheWeb(): typeof Core {
  let core: typeof Core | undefined;
  jest.isolateModules(() => {
    jest.doMock('#hmac', () => jest.requireActual('../src/hmac.web.ts'));
    core = require('../src/index.ts');
  });
  return core as typeof Core;
}

const core = loadForTheWeb();

test('this is the HMAC of WebCrypto', async () => {
  const sign = jest.spyOn(crypto.subtle, 'sign');
  await core.signDelivery({ body: '', secret: 'whsec_a' });
  expect(sign).toHaveBeenCalledTimes(1);
  sign.mockRestore();
});

signatureSuite(core);
