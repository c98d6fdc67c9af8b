import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const compiler = join(__dirname, '../../../node_modules/typescript/bin/tsc');

/** Compiles a program of `test-types`, with the libraries' own declarations checked too. Gives the files it is made of. */
async function compile(program: string): Promise<string> {
  const project = join(__dirname, '../test-types', `tsconfig.${program}.json`);
  try {
    return (await promisify(execFile)(process.execPath, [compiler, '-p', project, '--listFiles'])).stdout;
  } catch (error) {
    throw new Error((error as { stdout: string }).stdout, { cause: error });
  }
}

test.each([
  ['express4', ['@types+express@4']],
  ['express5', ['@types+express@5']],
  ['without-express', []],
])(
  'types: %s',
  async (program, libraries) => {
    const files = await compile(program);
    // Two versions side by side are easily mistaken for each other.
    expect([...new Set(files.match(/@types\+express@\d/g))]).toEqual(libraries);
  },
  60_000,
);
