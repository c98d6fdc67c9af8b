import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type AdapterSubject,
  adapterCases,
  adapterContract,
  type ContractResult,
  contractConfig,
  type TestRunner,
} from '@factuarea-webhook/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Mistakes, startBare } from './bare-server.ts';

adapterContract({ name: 'bare core on node:http', start: startBare }, { describe, test, beforeAll, afterAll });

const reportFile = process.env['CONTRACT_REPORT'];

function reportTo(file: string | undefined): void {
  if (file === undefined) delete process.env['CONTRACT_REPORT'];
  else process.env['CONTRACT_REPORT'] = file;
}

afterEach(() => reportTo(reportFile));

/** Runs some cases of the contract here and now; gives the message of each that failed. */
async function judge(subject: AdapterSubject, ...ids: string[]): Promise<Record<string, string | undefined>> {
  const bodies = new Map<string, () => Promise<void>>();
  const hooks: (() => Promise<void>)[] = [];
  const runner: TestRunner = {
    describe: (_, body) => body(),
    test: (name, body) => bodies.set(name.split(':', 1)[0] as string, body),
    beforeAll: (body) => hooks.unshift(body),
    afterAll: (body) => hooks.push(body),
  };
  adapterContract(subject, runner);
  const [start, stop] = hooks as [() => Promise<void>, () => Promise<void>];
  await start();
  const results: Record<string, string | undefined> = {};
  for (const id of ids) {
    results[id] = await (bodies.get(id) as () => Promise<void>)().then(
      () => undefined,
      (error: Error) => error.message,
    );
  }
  await stop();
  return results;
}

describe('the contract finds', () => {
  // What is broken on purpose has no place among the results of the adapters.
  beforeEach(() => reportTo(undefined));

  const again = (bytes: Buffer): Buffer => Buffer.from(JSON.stringify(JSON.parse(bytes.toString())));
  test.each<[string, Mistakes, string[]]>([
    ['a body that is written anew', { body: again }, ['handler/handled', 'middleware/handled']],
    ['a body read as text', { asText: true }, ['handler/split-character', 'handler/split-character-chunked']],
    ['a body without a limit', { noLimit: true }, ['handler/keep-alive-after-too-large']],
    ['a body read before the headers are looked at', { readFirst: true }, ['handler/unread-without-signature']],
    ['an answer of another type', { headers: { 'content-type': 'application/json; charset=utf-8' } }, ['handler/pong']],
    ['a 405 that allows too much', { headers: { allow: 'GET, POST' } }, ['handler/method-put']],
    [
      'a route’s answer that is not held back',
      { unheld: true },
      ['middleware/settled-first', 'middleware/stream-settled-first', 'middleware/commit-failed'],
    ],
    [
      'a route that is given up with its sender',
      { hangsUp: true },
      ['middleware/gone-mid-handler', 'middleware/route-gone-not-2xx', 'middleware/route-gone-stream'],
    ],
  ])(
    '%s',
    async (_, mistakes, ids) => {
      const results = await judge({ name: 'broken', start: (config) => startBare(config, mistakes) }, ...ids);
      for (const id of ids) expect([id, results[id]]).toEqual([id, expect.any(String)]);
      // An answer that never comes is waited for.
    },
    15_000,
  );
});

describe('an exception', () => {
  beforeEach(() => reportTo(undefined));

  const broken = (config: Parameters<AdapterSubject['start']>[0]): ReturnType<AdapterSubject['start']> =>
    startBare(config, { headers: { 'content-type': 'text/html' } });
  const except = { 'handler/pong': 'this framework has a type of its own' };

  test('lets a case fail', async () => {
    expect(await judge({ name: 'excepted', start: broken, except }, 'handler/pong', 'handler/ignored')).toEqual({
      'handler/pong': undefined,
      'handler/ignored': expect.any(String),
    });
  });

  test('must be removed once its case holds', async () => {
    expect(await judge({ name: 'excepted', start: startBare, except }, 'handler/pong')).toEqual({
      'handler/pong': '`handler/pong` holds: remove it from `except`.',
    });
  });

  test('must name a case', () => {
    const subject = { name: 'wrong', start: startBare, except: { 'handler/nothing': 'no reason' } };
    expect(() => adapterContract(subject, { describe, test, beforeAll, afterAll })).toThrow('handler/nothing');
  });
});

describe('the report', () => {
  let folder = '';

  afterEach(() => rm(folder, { recursive: true }));

  test('has one line for each result', async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'contract-'));
    const file = path.join(folder, 'report.jsonl');
    reportTo(file);
    const start: AdapterSubject['start'] = (config) => startBare(config, { headers: { allow: 'GET' } });
    const except = { 'handler/method-get': 'it is broken on purpose' };
    await judge({ name: 'reported', start, except }, 'handler/method-get', 'handler/method-put', 'middleware/handled');
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    const results = lines.map((line) => JSON.parse(line) as ContractResult);
    expect(results.map(({ subject, case: id, result, reason }) => [subject, id, result, reason])).toEqual([
      ['reported', 'handler/method-get', 'excepted', 'it is broken on purpose'],
      ['reported', 'handler/method-put', 'failed', undefined],
      ['reported', 'middleware/handled', 'passed', undefined],
    ]);
    expect(results[0]?.title).toBe('GET is answered 405 with Allow: POST');
  });
});

test('every case has an id of its own, which begins with its form', () => {
  const ids = adapterCases.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { id, title } of adapterCases) {
    expect(id).toMatch(/^(handler|middleware)\/[a-z0-9-]+$/);
    expect(title).not.toBe('');
  }
});

test('the contract’s config fits into JSON, and is another one each time', () => {
  const config = contractConfig();
  expect(JSON.parse(JSON.stringify(config))).toEqual(config);
  expect(contractConfig().run).not.toBe(config.run);
});
