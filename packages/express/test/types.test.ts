import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const compiler = join(__dirname, '../../../node_modules/typescript/bin/tsc');

/** Compiles a program of `test-types`, with the libraries' own declarations checked too. Gives the compiler's words. */
async function compile(program: string, ...more: string[]): Promise<string> {
  const project = join(__dirname, '../test-types', `tsconfig.${program}.json`);
  const run = promisify(execFile)(process.execPath, [compiler, '-p', project, ...more]);
  return run.then(
    ({ stdout }) => stdout,
    (error: Error & { stdout: string }) => error.stdout || error.message,
  );
}

test.each([
  ['express4', ['@types+express@4']],
  ['express5', ['@types+express@5']],
  ['without-express', []],
])('types: %s', async (program, libraries) => {
  expect(await compile(program)).toBe('');
  // Two versions side by side are easily mistaken for each other.
  const files = await compile(program, '--listFilesOnly');
  expect([...new Set(files.match(/@types\+express@\d/g))]).toEqual(libraries);
});
