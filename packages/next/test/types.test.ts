import { expect, test } from '@jest/globals';
import { compile, versionsOf } from '../../../tests/support/compiling.ts';

test('types: newest', async () => {
  const compiled = await compile(__dirname, 'newest');
  expect(versionsOf('next', compiled)).toEqual([expect.stringMatching(/^16\./)]);
  // Next's own declarations name modules that it does not bring, so nobody can check those.
  expect(compiled.errors.filter((line) => !/^[^(]*\/node_modules\/next\//.test(line))).toEqual([]);
}, 60_000);
