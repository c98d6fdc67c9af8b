import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import type { Diagnosis } from '../src/verify/diagnose.ts';
import { diagnose } from '../src/verify/diagnose.ts';
import { run } from './run.ts';

// Starting a program takes its time on a busy machine.
jest.setTimeout(60_000);

const secret = 'whsec_7Qm2Zr9tLk4XvB1nAe6H';
const older = 'whsec_5Jd8Pw3yHs6TqUc0RfGz';
const now = 1_767_225_600;
/** As Factuarea writes it: escaped unicode and slashes, numbers that no parser gives back. */
const body =
  '{"id":"0198c0de-0000-7000-8000-000000000001","type":"invoice.sent","created":1767225600,"livemode":false,' +
  '"data":{"total":121.0,"big":9007199254740993,"name":"Pe\\u00f1a <\\ud83d\\ude00>","url":"https:\\/\\/example.com\\/a"}}';

const digest = (key: string | Buffer, message: string | Buffer): string =>
  createHmac('sha256', key).update(message).digest('hex');
const sign = (text: string | Buffer = body, key: string | Buffer = secret, t: number | string = now): string =>
  `t=${t},v1=${digest(key, Buffer.concat([Buffer.from(`${t}.`), Buffer.from(text as string)]))}`;

function look(more: Partial<Parameters<typeof diagnose>[0]> & { text?: string | Buffer }): Diagnosis {
  const { text = body, ...rest } = more;
  return diagnose({
    signature: sign(),
    body: Buffer.from(text as string),
    secrets: [secret],
    receivedAt: now + 2,
    toleranceSeconds: 300,
    ...rest,
  });
}
const codes = (diagnosis: Diagnosis): string[] => diagnosis.findings.map((one) => one.code);
const problem = (diagnosis: Diagnosis): string => diagnosis.findings.map((one) => one.problem).join('\n');

describe('a good delivery', () => {
  test('verifies', () => {
    const diagnosis = look({});
    expect(diagnosis).toEqual({
      verifies: true,
      secret: 1,
      signedAt: '2026-01-01T00:00:00.000Z',
      clockOffsetSeconds: -2,
      findings: [],
    });
  });

  test.each([
    ['the second of two secrets', [older, secret], sign(), 2],
    ['the second v1', [secret], sign().replace(',v1=', `,v1=${'0'.repeat(64)},v1=`), 1],
    ['unknown pairs', [secret], sign().replace(',v1=', ',v0=1,foo=bar, v1='), 1],
  ])('verifies with %s', (_name, secrets, signature, which) => {
    expect(look({ secrets, signature })).toMatchObject({ verifies: true, secret: which });
  });
});

describe('what is wrong is named', () => {
  test.each<[string, string[], Parameters<typeof look>[0]]>([
    ['no header', ['header_missing'], { signature: undefined }],
    ['a header that is none', ['header_unreadable'], { signature: 'sha256=abc' }],
    ['no t', ['header_no_t'], { signature: `v1=${digest(secret, body)}` }],
    ['no v1', ['header_no_v1'], { signature: sign().replace('v1', 'v0') }],
    ['two t', ['header_two_t'], { signature: `t=1,${sign()}` }],
    ['a t that is no number', ['header_bad_t'], { signature: sign().replace(/t=\d+/, 't=now') }],
    ['a cut digest', ['header_bad_v1'], { signature: sign().slice(0, -10) }],
    ['another secret', ['secret_wrong'], { secrets: [older] }],
    ['a line end behind the secret', ['secret_whitespace'], { secrets: [`${secret}\r\n`] }],
    ['a byte order mark before the secret', ['secret_whitespace'], { secrets: [`\uFEFF${secret}`] }],
    ['double quotes', ['secret_quotes'], { secrets: [`"${secret}"`] }],
    ['single quotes and white space', ['secret_quotes'], { secrets: [` '${secret}'\n`] }],
    ['the other scheme’s label', ['secret_scheme_prefix'], { secrets: [`v1,${secret}`] }],
    ['a secret without whsec_', ['secret_prefix_missing'], { secrets: [secret.slice(6)] }],
    ['a key without whsec_', ['secret_prefix_stripped'], { signature: sign(body, secret.slice(6)) }],
    [
      'a base64-decoded key',
      ['secret_base64_decoded'],
      { signature: sign(body, Buffer.from(secret.slice(6), 'base64')) },
    ],
    ['v1 over the body alone', ['timestamp_not_signed'], { signature: `t=${now},v1=${digest(secret, body)}` }],
    [
      'an upper-case digest',
      ['digest_upper_case'],
      { signature: sign().replace(/[a-f]/g, (one) => one.toUpperCase()) },
    ],
    [
      'a base64 digest',
      ['digest_base64'],
      { signature: sign().replace(/[0-9a-f]{64}/, (hex) => Buffer.from(hex, 'hex').toString('base64')) },
    ],
    ['a byte order mark', ['body_bom'], { text: `\uFEFF${body}` }],
    ['a final newline', ['body_trailing_newline'], { text: `${body}\n` }],
    ['a lost newline', ['body_newline_lost'], { signature: sign(`${body}\n`) }],
    [
      'CRLF for LF',
      ['body_crlf'],
      { text: body.replaceAll(',', ',\r\n'), signature: sign(body.replaceAll(',', ',\n')) },
    ],
    [
      'LF for CRLF',
      ['body_crlf'],
      { text: body.replaceAll(',', ',\n'), signature: sign(body.replaceAll(',', ',\r\n')) },
    ],
    ['base64', ['body_base64'], { text: Buffer.from(body).toString('base64') }],
    ['JSON in a JSON string', ['body_quoted'], { text: JSON.stringify(body) }],
    ['gzip', ['body_gzip'], { text: gzipSync(body) }],
    ['an empty body', ['body_empty'], { text: '' }],
    ['a cut body', ['body_truncated'], { text: body.slice(0, -20) }],
    ['a body cut behind a complete value', ['body_truncated'], { text: '{}', contentLength: 400 }],
    ['no JSON', ['body_not_json'], { text: 'id=1&type=invoice.sent' }],
    ['lost bytes', ['body_replaced'], { text: body.replace('Pe', 'Pe\uFFFD') }],
    ['a changed body', ['no_match'], { text: '{"id": 1}' }],
    ['an old delivery', ['timestamp_old'], { receivedAt: now + 11_000 }],
    ['a delivery from the future', ['timestamp_future'], { receivedAt: now - 400 }],
    ['milliseconds', ['timestamp_milliseconds'], { signature: sign(body, secret, `${now}000`) }],
    [
      'milliseconds in the header, seconds in what was signed',
      ['timestamp_milliseconds'],
      { signature: sign().replace(`t=${now}`, `t=${now}000`) },
    ],
    [
      'three things at once',
      ['secret_quotes', 'body_trailing_newline', 'digest_upper_case'],
      {
        secrets: [`"${secret}"`],
        text: `${body}\n`,
        signature: sign().replace(/[a-f]/g, (one) => one.toUpperCase()),
      },
    ],
  ])('%s', (_name, expected, more) => {
    const diagnosis = look(more);
    expect(codes(diagnosis)).toEqual(expected);
    expect(diagnosis.verifies).toBe(false);
  });

  test('Latin-1 taken for UTF-8', () => {
    const signed = '{"id":"1","name":"Peña"}';
    const mangled = Buffer.from(Buffer.from(signed).toString('latin1'));
    expect(codes(look({ text: mangled, signature: sign(signed) }))).toEqual(['body_latin1']);
  });

  test('how far the clock is off', () => {
    expect(problem(look({ receivedAt: now + 11_000 }))).toContain('3 h 3 min');
    expect(problem(look({ receivedAt: now - 90_000 }))).toContain('1 d 1 h');
  });

  test('how much of the body is there', () => {
    expect(problem(look({ text: body.slice(0, 40), contentLength: body.length }))).toContain(
      `40 of ${body.length} bytes`,
    );
  });
});

describe('a re-serialised body', () => {
  const signed: [string, string][] = [
    ["PHP's json_encode (what Factuarea writes)", '{"id":"1","name":"Pe\\u00f1a","url":"a\\/b"}'],
    ["Python's json.dumps", '{"id": "1", "name": "Pe\\u00f1a", "url": "a/b"}'],
    ["Python's json.dumps with ensure_ascii=False", '{"id": "1", "name": "Peña", "url": "a/b"}'],
    ["JavaScript's JSON.stringify", '{"id":"1","name":"Peña","url":"a/b"}'],
    ["PHP's json_encode with JSON_UNESCAPED_SLASHES", '{"id":"1","name":"Pe\\u00f1a","url":"a/b"}'],
    ["PHP's json_encode with JSON_UNESCAPED_UNICODE", '{"id":"1","name":"Peña","url":"a\\/b"}'],
    ['pretty-printed JSON, 2 spaces', '{\n  "id": "1",\n  "name": "Peña",\n  "url": "a/b"\n}'],
    ["PHP's json_encode with JSON_PRETTY_PRINT", '{\n    "id": "1",\n    "name": "Pe\\u00f1a",\n    "url": "a\\/b"\n}'],
    [".NET's System.Text.Json", '{"id":"1","name":"Pe\\u00F1a","url":"a/b"}'],
  ];

  test.each(signed)('names %s', (name, text) => {
    // Captured as something that none of them writes.
    const captured = `{ "id":"1",  "name":"Peña", "url":"a/b" }`;
    const diagnosis = look({ text: captured, signature: sign(text) });
    expect(codes(diagnosis)).toEqual(['body_reserialised']);
    expect(problem(diagnosis)).toContain(`the signature fits ${name}`);
  });

  test('says what the captured body was written by', () => {
    const captured = '{"id": "1", "name": "Pe\\u00f1a", "url": "a/b"}';
    const diagnosis = look({ text: captured, signature: sign('{"id":"1","name":"Pe\\u00f1a","url":"a\\/b"}') });
    expect(problem(diagnosis)).toContain("as Python's json.dumps writes it");
  });

  test('keeps numbers that JSON.parse would lose', () => {
    const diagnosis = look({ text: JSON.stringify({ a: 1 }).replace('1', ' 121.0'), signature: sign('{"a":121.0}') });
    expect(codes(diagnosis)).toEqual(['body_reserialised']);
  });

  test('finds the envelope whose keys were sorted', () => {
    const diagnosis = look({
      text: '{"created":1,"data":{},"id":"1","type":"a.b"}',
      signature: sign('{"id":"1","type":"a.b","created":1,"data":{}}'),
    });
    expect(problem(diagnosis)).toContain('fields in their own order');
  });

  test('a JSON text nested a hundred thousand deep ends in a diagnosis', () => {
    expect(codes(look({ text: '['.repeat(100_000) }))).toHaveLength(1);
  });
});

describe('the command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'verify-'));
  const file = join(folder, 'body.json');
  writeFileSync(file, body);
  afterAll(() => rmSync(folder, { recursive: true }));

  test('says yes with exit code 0', async () => {
    const args = ['verify', '--header', sign(), '--body', file, '--secret', secret, '--at', '2026-01-01T00:01:00Z'];
    const { code, stdout } = await run(args);
    expect(stdout).toContain('It verifies');
    expect(stdout).toContain('1 min before its arrival');
    expect(code).toBe(0);
  });

  test('takes the body from standard input, the secret from the environment and headers as curl does', async () => {
    const { code, json } = await run(
      ['verify', '--header', `Factuarea-Signature: ${sign()}`, '--body', '-', '--at', String(now), '--json'],
      { stdin: body, env: { FACTUAREA_WEBHOOK_SECRET: `${older},${secret}` } },
    );
    expect(json()).toMatchObject({ verifies: true, secret: 2 });
    expect(code).toBe(0);
  });

  test('says no with exit code 1, and gives away neither secret nor digest', async () => {
    const args = ['verify', '--header', sign(), '--body', file, '--secret', `"${secret}"`];
    for (const more of [[], ['--json']]) {
      const { code, stdout, stderr } = await run([...args, ...more]);
      expect(code).toBe(1);
      expect(stdout).toContain('quotes');
      expect(stdout).toContain('older than accepted');
      expect(`${stdout}${stderr}`).not.toMatch(/7Qm2Zr9tLk4XvB1nAe6H|[0-9a-f]{64}/);
    }
  });

  test('a file that is not there is wrong use', async () => {
    const { code, stderr } = await run(['verify', '--header', sign(), '--body', `${file}.no`, '--secret', secret]);
    expect(code).toBe(2);
    expect(stderr).toContain('Cannot read');
  });
});
