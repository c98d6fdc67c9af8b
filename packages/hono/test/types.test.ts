import { expect, test } from '@jest/globals';
import { compile, versionsOf } from '../../../tests/support/compiling.ts';

test.each([
  ['oldest', '4.10.0'],
  ['newest', '4.13.19'],
])(
  'types: %s',
  async (program, version) => {
    const compiled = await compile(__dirname, program);
    expect(compiled.errors).toEqual([]);
    expect(versionsOf('hono', compiled)).toEqual([version]);
  },
  60_000,
);
