import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

/** Measuring is for people who wait for it. That each part can be loaded, with all its rivals, is for everybody. */
test('every part of the bench loads', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(__dirname, '../run.mjs'), '--list', '--growth']);
  const parts = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' ', 1)[0]);
  expect(parts).toEqual([
    'verify',
    'request',
    'postgres',
    'repeats',
    'stores',
    'pruning',
    'growth',
    'memory',
    'coldstart',
  ]);
  expect(stdout).not.toContain('undefined');
}, 60_000);
