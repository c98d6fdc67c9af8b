import { expect, test } from '@jest/globals';
import { compile, versionsOf } from '../../../tests/support/compiling.ts';

test.each([
  ['oldest', '5.0.0'],
  ['newest', '5.12.8'],
])(
  'types: %s',
  async (program, version) => {
    const compiled = await compile(__dirname, program);
    expect(compiled.errors).toEqual([]);
    expect(versionsOf('fastify', compiled)).toEqual([version]);
  },
  60_000,
);
