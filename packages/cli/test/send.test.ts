import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { broken, type Running, SECRET, startReceiver } from './fixtures/receiver.ts';
import { run } from './run.ts';

jest.setTimeout(60_000);

interface Sent {
  readonly event: { readonly id: string; readonly type: string; readonly data: unknown; readonly account?: unknown };
  readonly attempts: { readonly status: number; readonly verdict: string; readonly deliveryId: string }[];
}

describe('send', () => {
  let receiver: Running;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());
  const send = (...args: string[]): ReturnType<typeof run> => run(['send', receiver.url, '--secret', SECRET, ...args]);
  const handled = async (): Promise<string[]> => (await fetch(receiver.handled)).json() as Promise<string[]>;

  test('delivers one signed event and says what Factuarea does then', async () => {
    const { code, stdout } = await send();
    expect(stdout).toContain('invoice.sent');
    expect(stdout).toContain('200');
    expect(stdout).toContain('closed for good');
    expect(code).toBe(0);
  });

  test('--twice is one event in two deliveries', async () => {
    const { code, json } = await send('--twice', '--endpoint', 'account', '--type', 'payment.received', '--json');
    const { event, attempts } = json<Sent>();
    expect(event).toMatchObject({ type: 'payment.received', account: expect.anything() });
    expect(attempts.map(({ status }) => status)).toEqual([200, 200]);
    expect(new Set(attempts.map(({ deliveryId }) => deliveryId)).size).toBe(2);
    expect((await handled()).filter((id) => id === event.id)).toHaveLength(1);
    expect(code).toBe(0);
  });

  test('--concurrent: the copy that must wait is told so, which is no failure', async () => {
    const { code, json } = await send('--concurrent', '--type', 'test.slow', '--json');
    expect(
      json<Sent>()
        .attempts.map(({ verdict }) => verdict)
        .sort(),
    ).toEqual(['delivered', 'retry']);
    expect(code).toBe(0);
  });

  test('--data and --id', async () => {
    const file = join(tmpdir(), `send-${process.pid}.json`);
    writeFileSync(file, '{"invoice":{"id":"42"}}');
    const { json } = await send('--data', file, '--id', 'evt_of_mine', '--json');
    expect(json<Sent>().event).toMatchObject({ id: 'evt_of_mine', data: { invoice: { id: '42' } } });
    expect(await handled()).toContain('evt_of_mine');
  });

  test('--data that is no object is wrong use', async () => {
    const { code, stderr } = await run(['send', receiver.url, '--secret', SECRET, '--data', '-'], { stdin: '[1]' });
    expect(code).toBe(2);
    expect(stderr).toContain('holds no JSON object');
  });

  test('a final 4xx is exit code 1', async () => {
    const { code, stdout } = await run(['send', receiver.url, '--secret', 'whsec_5Jd8Pw3yHs6TqUc0RfGz']);
    expect(stdout).toContain('Failed permanently');
    expect(code).toBe(1);
  });

  test('nobody there is exit code 3', async () => {
    const { code, stderr } = await run(['send', 'http://127.0.0.1:1/', '--secret', SECRET]);
    expect(stderr).toContain('Nobody answers');
    expect(code).toBe(3);
  });

  test('an answer cannot reach the terminal as control characters', async () => {
    const server = createServer((_request, response) => response.end('\u001b[2J\u001b]0;owned\u0007ok'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { stdout } = await run(['send', `127.0.0.1:${(server.address() as AddressInfo).port}`, '--secret', SECRET]);
    server.close();
    expect(stdout).toContain('ok');
    for (const sign of ['\u001b', '\u0007']) expect(stdout).not.toContain(sign);
  });
});

describe('simulate', () => {
  interface Outcome {
    readonly ok: boolean;
    readonly scenarios: {
      readonly name: string;
      readonly skipped?: string;
      readonly events: number;
      readonly attempts: number;
      readonly lost: string[];
      readonly repeated: string[];
    }[];
  }

  async function simulate(receiver: Running, ...args: string[]): Promise<{ code: number | null; outcome: Outcome }> {
    try {
      const list = ['--handled', receiver.handled, '--events', '4', '--json'];
      const ended = await run(['simulate', receiver.url, '--secret', SECRET, ...list, ...args]);
      return { code: ended.code, outcome: ended.json<Outcome>() };
    } finally {
      await receiver.close();
    }
  }

  test('a good receiver: nothing is lost, nothing handled twice', async () => {
    const { code, outcome } = await simulate(await startReceiver(), '--fails', 'test.fails');
    expect(outcome.ok).toBe(true);
    expect(outcome.scenarios.map(({ name }) => name)).toEqual([
      'twins',
      'retry',
      'timeout',
      'replay',
      'rotation-new',
      'rotation-old',
      'storm',
    ]);
    for (const { events, attempts, lost, repeated } of outcome.scenarios) {
      expect({ lost, repeated }).toEqual({ lost: [], repeated: [] });
      expect(attempts).toBeGreaterThanOrEqual(events);
    }
    const attemptsOf = (name: string): number => outcome.scenarios.find((one) => one.name === name)?.attempts ?? 0;
    expect(attemptsOf('retry')).toBe(8);
    expect(attemptsOf('timeout')).toBe(8);
    expect(attemptsOf('storm')).toBeGreaterThanOrEqual(200);
    expect(code).toBe(0);
  });

  test('an event that is lost is exit code 1, by name', async () => {
    const receiver = await startReceiver(broken['marks before the work']);
    const { code, outcome } = await simulate(receiver, '--scenario', 'retry', '--fails', 'test.fails');
    expect(outcome.scenarios[0]?.lost).toHaveLength(4);
    expect(code).toBe(1);
  });

  test('an event that is handled twice is exit code 1, by name', async () => {
    const receiver = await startReceiver(broken['takes the key from the delivery id']);
    const { code, outcome } = await simulate(receiver, '--scenario', 'twins', '--scenario', 'timeout');
    expect(outcome.scenarios.map(({ repeated }) => repeated.length)).toEqual([4, 0]);
    expect(code).toBe(1);
  });

  test('what needs the receiver’s help is said to be skipped', async () => {
    const { code, outcome } = await simulate(await startReceiver(), '--scenario', 'retry');
    expect(outcome.scenarios).toEqual([expect.objectContaining({ name: 'retry', skipped: 'needs --fails' })]);
    expect(code).toBe(0);
  });

  test('the table in a pipe has no frame and no colour, and a sentence at its end', async () => {
    const receiver = await startReceiver();
    const args = ['--events', '2', '--scenario', 'replay'];
    const { stdout, stderr } = await run(['simulate', receiver.url, '--secret', SECRET, ...args]);
    await receiver.close();
    expect(stdout).toMatch(/^scenario +events +deliveries/);
    expect(stdout).toMatch(/^replay +2 +4 +4 +200 × 4 +0 +0$/m);
    expect(stdout).toContain('None of 2 events was lost');
    for (const sign of ['\u001b', '│', '─']) expect(stdout).not.toContain(sign);
    expect(stderr).toBe('');
  });

  test('nobody there is exit code 3, after the whole calendar', async () => {
    const args = ['--scenario', 'replay', '--events', '1', '--speed', '1000000'];
    const { code, stderr } = await run(['simulate', 'http://127.0.0.1:1/', '--secret', SECRET, ...args]);
    expect(stderr).toContain('Nobody answers');
    expect(code).toBe(3);
  });
});
