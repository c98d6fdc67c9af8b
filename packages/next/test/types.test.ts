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

test('types: newest', async () => {
  const output = await compile('newest');
  expect(output).toMatch(/\/next@16\./);
  // Next's own declarations name modules that it does not bring, so nobody can check those.
  const errors = (output.match(/^.*error TS.*$/gm) ?? []).filter((line) => !/^[^(]*\/node_modules\/next\//.test(line));
  expect(errors).toEqual([]);
}, 60_000);
