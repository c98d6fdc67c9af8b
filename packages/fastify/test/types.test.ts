import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const compiler = join(__dirname, '../../../node_modules/typescript/bin/tsc');

/** Compiles `test-types/app.ts` against what is published, with every declaration checked too. Gives the output. */
function compile(program: string): Promise<string> {
  const project = join(__dirname, '../test-types', `tsconfig.${program}.json`);
  return new Promise((resolve) => {
    execFile(process.execPath, [compiler, '-p', project, '--pretty', 'false', '--listFiles'], (_error, out, err) =>
      resolve(out + err),
    );
  });
}

test.each([
  ['oldest', '5.0.0'],
  ['newest', '5.12.8'],
])(
  'types: %s',
  async (program, version) => {
    const output = await compile(program);
    expect(output.match(/^.*error TS.*$/gm)).toBeNull();
    // Two versions side by side are easily mistaken for each other.
    expect([...new Set(output.match(/(?<=\/fastify@)[\d.]+/g))]).toEqual([version]);
  },
  60_000,
);
