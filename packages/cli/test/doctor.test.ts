import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { checks, type Report } from '../src/doctor/examine.ts';
import { has, startPhp, startPython } from './fixtures/processes.ts';
import { broken, type Running, SECRET, type Steps, startReceiver } from './fixtures/receiver.ts';
import { type Ended, run } from './run.ts';

// One judgement is some three seconds; a busy machine may take ten times that.
jest.setTimeout(120_000);

const help = ['--fails', 'test.fails', '--slow', 'test.slow'];

/** Judges a receiver, and stops it. */
async function judge(receiver: Running, ...more: string[]): Promise<Ended & { report: Report }> {
  const secret = more.includes('--secret') ? [] : ['--secret', SECRET];
  try {
    const ended = await run(['doctor', receiver.url, ...secret, '--json', ...more]);
    return { ...ended, report: ended.json<Report>() };
  } finally {
    await receiver.close();
  }
}

function judgeAll(receiver: Running): Promise<Ended & { report: Report }> {
  return judge(receiver, '--handled', receiver.handled, ...help);
}

const idsOf = (report: Report, ...states: string[]): string[] =>
  report.results.filter((one) => states.includes(one.state)).map((one) => one.id);

describe('good receivers pass', () => {
  test.each<[string, () => Promise<Running>]>([
    ['plain Node', startReceiver],
    ['plain Node, with a handler that is slower than its deadline', () => startReceiver({ deadlineMs: 100 })],
    ['Python, standard library', startPython],
    ...(has('php', '-r', 'new PDO("sqlite::memory:");') ? ([['PHP', startPhp]] as [string, typeof startPhp][]) : []),
  ])('%s', async (_name, start) => {
    const { code, report } = await judgeAll(await start());
    expect(report.results.filter((one) => one.state === 'fail' || one.state === 'warn')).toEqual([]);
    expect(idsOf(report, 'not-tested')).toEqual(['second-secret']);
    expect(code).toBe(0);
  });
});

describe('broken receivers fail, each for its own reason', () => {
  const reasons: Readonly<Record<string, string[]>> = {
    'marks before the work': ['early-repeat', 'retry-after-failure'],
    'verifies a re-serialised body': ['escaped-json', 'odd-spacing', 'exact-numbers', 'final-newline'],
    'looks at the first v1 only': ['rotation-second'],
    'checks the clock on one side': ['future-time', 'millisecond-time'],
    'answers 409 to concurrent copies': ['concurrent-copies'],
    'answers 200 when the handler failed': ['failure-retryable'],
    'takes the key from the event id header': ['forged-headers', 'shared-headers'],
    'takes the key from the delivery id': ['replay', 'account-copy', 'concurrent-copies'],
    'answers 400 to a charset': ['charset'],
    'answers before the work, which is lost': [
      'concurrent-copies',
      'early-repeat',
      'failure-retryable',
      'answer-after-work',
    ],
  };

  test.each(Object.entries(broken))('%s', async (name, steps) => {
    const { code, report } = await judgeAll(await startReceiver(steps));
    expect(idsOf(report, 'fail', 'warn')).toEqual(reasons[name]);
    expect(code).toBe(1);
    for (const { state, sent, got, whatFactuareaDoes, fix, docs } of report.results) {
      if (state !== 'fail') continue;
      for (const text of [sent, got, whatFactuareaDoes, fix]) expect(text).not.toBe('');
      expect(docs).toMatch(/^docs\/doctor\.md#/);
    }
  });
});

describe('what cannot be seen is not claimed', () => {
  test('without the receiver’s help, effects and failures are "not tested"', async () => {
    const { code, report } = await judge(await startReceiver());
    expect(code).toBe(0);
    expect(idsOf(report, 'not-tested')).toEqual([
      'second-secret',
      'shared-headers',
      'one-operation',
      'case-of-ids',
      'early-repeat',
      'failure-retryable',
      'retry-after-failure',
      'answer-after-work',
      'late-effects',
    ]);
    for (const one of report.results) if (one.state === 'not-tested') expect(one.got).toMatch(/^needs /);
  });

  const misreadings: [string, Partial<Steps>, string[], RegExp][] = [
    ['another secret', {}, ['--secret', 'whsec_5Jd8Pw3yHs6TqUc0RfGz'], /^401 invalid signature in \d+ ms$/],
    [
      'a body that Python has written anew',
      { signedBytes: (body) => Buffer.from(body.toString().replace(/": ?/g, '": ').replace(/, ?"/g, ', "')) },
      [],
      /It accepts bodies as Python's json\.dumps writes them/,
    ],
  ];
  test.each(misreadings)(
    '%s: nothing else is judged, and the reason is looked for',
    async (_name, steps, more, got) => {
      const receiver = await startReceiver(steps);
      const ended = await run(['doctor', receiver.url, '--json', ...(more.length > 0 ? more : ['--secret', SECRET])]);
      await receiver.close();
      const report = ended.json<Report>();
      expect(ended.code).toBe(1);
      expect(report.results[0]).toMatchObject({ id: 'good-delivery', state: 'fail', got: expect.stringMatching(got) });
      expect(report.counts).toEqual({ pass: 0, warn: 0, fail: 1, 'not-tested': checks.length - 1 });
    },
  );

  test('nobody at the URL is exit code 3, at once', async () => {
    const { code, stderr } = await run(['doctor', 'http://127.0.0.1:1/x', '--secret', SECRET]);
    expect(code).toBe(3);
    expect(stderr).toContain('Nobody answers');
  });

  test('a list that is none is exit code 3', async () => {
    const receiver = await startReceiver();
    const { code, stderr } = await run(['doctor', receiver.url, '--secret', SECRET, '--handled', receiver.url]);
    await receiver.close();
    expect(code).toBe(3);
    expect(stderr).toContain('cannot be read: it answered 405');
  });
});

describe('answers are looked at as well', () => {
  test.each([
    ['a digest that signs', (expected: string) => `expected ${expected}`, 'fail', 'a 401 answer holds the secret'],
    ['a stack', () => 'Error: no\n    at verify (/srv/app.js:10:5)', 'warn', 'holds a stack'],
  ])('%s', async (_name, refusal, state, got) => {
    const { report } = await judge(await startReceiver({ refusal }));
    const leaks = report.results.find((one) => one.id === 'answer-leaks');
    expect(leaks).toMatchObject({ state, got: expect.stringContaining(got) });
  });

  test('a redirect', async () => {
    const server = createServer((_request, response) => response.writeHead(308, { location: '/hooks/' }).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
    const { code, stdout } = await run(['doctor', url, '--secret', SECRET]);
    server.close();
    expect(code).toBe(1);
    expect(stdout).toContain('308');
    expect(stdout).toContain('Not followed');
  });
});

test('every check has a place of its own in docs/doctor.md', () => {
  const docs = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'doctor.md'), 'utf8');
  const anchors = [...docs.matchAll(/^### ([a-z-]+)$/gm)].map((match) => match[1]);
  expect([...anchors].sort()).toEqual(checks.map((check) => check.id).sort());
  expect(new Set(anchors).size).toBe(anchors.length);
  expect(checks.length).toBeGreaterThanOrEqual(30);
});
