import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { run } from './run.ts';

// Starting a program takes its time on a busy machine.
jest.setTimeout(60_000);

const commands = ['send', 'simulate', 'verify', 'doctor', 'listen', 'prune', 'migrate', 'status'];

describe('the command line', () => {
  test('--help lists every command and what exit codes mean', async () => {
    const { code, stdout, stderr } = await run(['--help']);
    expect(code).toBe(0);
    expect(stderr).toBe('');
    for (const command of commands) expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
    expect(stdout).toContain('Exit codes:');
  });

  test.each(commands)('%s --help has examples and --json', async (command) => {
    const { code, stdout } = await run([command, '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('Example');
    expect(stdout).toContain(`$ factuarea-webhook ${command}`);
    expect(stdout).toContain('--json');
  });

  test('--version is that of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(__dirname, '..', 'package.json'), 'utf8')) as { version: string };
    expect((await run(['--version'])).stdout.trim()).toBe(version);
  });

  test.each([
    ['nothing at all', []],
    ['an unknown command', ['destroy']],
    ['an unknown option', ['verify', '--bogus']],
    ['a missing option', ['verify', '--body', 'x']],
    ['a URL that is none', ['doctor', 'ftp://x', '--secret', 'whsec_a']],
    ['a number out of bounds', ['doctor', 'http://localhost:1', '--secret', 'whsec_a', '--timeout', '31']],
    ['no secret', ['doctor', 'http://localhost:1']],
    ['an unknown scenario', ['simulate', 'http://localhost:1', '--secret', 'whsec_a', '--scenario', 'calm']],
    ['a store URL that is none', ['status', 'mongodb://localhost/app']],
    ['too short a retention', ['prune', 'sqlite:./app.db', '--older-than', '3']],
    [
      'an event that no company endpoint sends',
      ['send', 'http://localhost:1', '--secret', 'whsec_a', '--type', 'account.closed'],
    ],
  ])('%s is answered with exit code 2 and a hint on stderr', async (_name, args) => {
    const { code, stdout, stderr } = await run(args);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(stderr.length).toBeGreaterThan(20);
  });

  test('with --json, an error is JSON too', async () => {
    const { code, stdout } = await run(['doctor', 'http://localhost:1', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({ error: expect.stringContaining('FACTUAREA_WEBHOOK_SECRET') });
  });

  test('nothing is coloured in a pipe', async () => {
    const { stdout, stderr } = await run(['verify', '--header', 't=1,v1=a', '--body', '-', '--secret', 'whsec_a']);
    expect(`${stdout}${stderr}`).not.toContain('\u001b[');
  });
});
