import { expect, test } from '@jest/globals';
import { compile, versionsOf } from '../../../tests/support/compiling.ts';

test.each([
  ['express4', [expect.stringMatching(/^4\./)]],
  ['express5', [expect.stringMatching(/^5\./)]],
  ['without-express', []],
])(
  'types: %s',
  async (program, versions) => {
    const compiled = await compile(__dirname, program);
    expect(compiled.errors).toEqual([]);
    expect(versionsOf('@types/express', compiled)).toEqual(versions);
  },
  60_000,
);
