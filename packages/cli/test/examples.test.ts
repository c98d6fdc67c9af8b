import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import type { Report } from '../src/doctor/examine.ts';
import { SECRET } from './fixtures/receiver.ts';
import { run } from './run.ts';

jest.setTimeout(120_000);

const secrets = [SECRET, 'whsec_5Jd8Pw3yHs6TqUc0RfGz'];

test.each(['express', 'fastify', 'hono'])(
  'the doctor finds nothing in the example for %s, in either form',
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'example-'));
    const example = join(__dirname, '..', '..', '..', 'examples', name);
    const child = spawn(process.execPath, ['server.js'], {
      cwd: example,
      env: {
        ...process.env,
        PORT: '0',
        FACTUAREA_WEBHOOK_SECRET: secrets.join(','),
        STORE_URL: `sqlite:${join(folder, 'events.sqlite')}`,
      },
    });
    try {
      const origin = await new Promise<string>((resolve, reject) => {
        let said = '';
        const hear = (text: Buffer): void => {
          said += text;
          const url = /listening on (http:\S+)/.exec(said)?.[1];
          if (url) resolve(url);
        };
        child.stdout.on('data', hear);
        child.stderr.on('data', hear);
        child.once('exit', (code) => reject(new Error(`The example ended with ${code}:\n${said}`)));
      });
      for (const route of ['webhook', 'middleware']) {
        const help = ['--handled', `${origin}/handled`, '--fails', '*-fail-once', '--slow', '*-slow-400'];
        const given = secrets.flatMap((secret) => ['--secret', secret]);
        const { code, json } = await run(['doctor', `${origin}/factuarea/${route}`, ...given, ...help, '--json']);
        const { results, counts } = json<Report>();
        expect(results.filter(({ state }) => state !== 'pass')).toEqual([]);
        expect(counts.pass).toBe(results.length);
        expect(code).toBe(0);
      }
    } finally {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
