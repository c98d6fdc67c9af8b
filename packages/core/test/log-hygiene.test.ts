import { inspect } from 'node:util';
import { describe, expect, jest, test } from '@jest/globals';
import {
  type Context,
  createReceiver,
  FactuareaWebhookError,
  type Outcome,
  type OutcomeCode,
  PermanentFailure,
  type ReceiverOptions,
  type Route,
  signDelivery,
} from '../src/index.ts';
import { delivery, NOW, OLDER_SECRET, request, SECRET, thrownBy, watchedStore } from './support.ts';

const PAYLOAD = 'ACME-B12345678';
const body = `{"id":"one","type":"invoice.sent","data":{"invoice":{"id":"i","tax_id":"${PAYLOAD}"}}}`;
const good = (): ReturnType<typeof delivery> => delivery(body);
const fail = (error: unknown) => (): never => {
  throw error;
};
const failWith = (code: ConstructorParameters<typeof FactuareaWebhookError>[0]) => (): Promise<never> =>
  Promise.reject(new FactuareaWebhookError(code, 'what the store says'));

/** A way to come to each code. */
const ways: Record<OutcomeCode, () => Promise<[ReceiverOptions, Awaited<ReturnType<typeof delivery>>, Route?]>> = {
  handled: async () => [{}, await good()],
  repeat: async () => [{ store: { claim: async () => ({ state: 'done' }) } }, await good()],
  ignored: async () => [{ handler: undefined, on: { 'a.b'() {} } }, await good()],
  pong: async () => [{}, await delivery(`{"id":"p","type":"webhook.ping","data":"${PAYLOAD}"}`)],
  handled_unrecorded: async () => [{ store: watchedStore(() => ({ done: async () => false })) }, await good()],
  in_progress: async () => [{ store: { claim: async () => ({ state: 'busy', retryAfterMs: 1 }) } }, await good()],
  handler_failed: async () => [{ handler: fail(new Error('the app’s own words')) }, await good()],
  permanent_failure: async () => [{ handler: fail(new PermanentFailure('the app’s own words')) }, await good()],
  deadline_exceeded: async () => [{ timeoutSeconds: 1, handlerLimitSeconds: 1, handler: waitForAbort }, await good()],
  store_unavailable: async () => [{ store: { claim: failWith('store_unavailable') } }, await good()],
  commit_failed: async () => [
    { store: watchedStore(() => ({ tx: {} as never, done: failWith('commit_failed') })) },
    await good(),
  ],
  invalid_signature: async () => [{}, await delivery(body, { secret: OLDER_SECRET })],
  invalid_event: async () => [{}, await delivery(`{"id":"one", ${PAYLOAD}`)],
  body_too_large: async () => [{ bodyLimit: 10 }, await delivery(body, { headers: { 'content-length': '99' } })],
  unsupported_encoding: async () => [{}, await delivery(body, { headers: { 'content-encoding': 'br' } })],
  body_incomplete: async () => [{}, { ...(await good()), body: failWith('body_incomplete') }],
  body_unavailable: async () => [{}, { ...(await good()), body: failWith('body_unavailable') }],
  secret_missing: async () => [{ secret: () => `"${SECRET}"` }, await good()],
  internal_error: async () => [{ handler: undefined }, await good()],
  method_not_allowed: async () => [{}, request({ method: 'PUT', body })],
};

function waitForAbort(_event: unknown, { signal }: Context): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
}

describe('no secret, digest or payload in any log, outcome or answer', () => {
  test.each(Object.keys(ways) as OutcomeCode[])('%s', async (code) => {
    const told: unknown[] = [];
    const outcomes: Outcome[] = [];
    const log = (...args: unknown[]): void => void told.push(args);
    const [options, incoming, route] = await ways[code]();
    const receiver = createReceiver({
      secret: { company: SECRET },
      nowSeconds: () => NOW,
      logger: { info: log, warn: log, error: log },
      handler() {},
      onOutcome: (outcome) => outcomes.push(outcome),
      ...options,
    });
    const answer = await receiver.receive(incoming, route);
    expect(outcomes.map((outcome) => outcome.code)).toEqual([code]);
    expect(told.length).toBeGreaterThan(0);

    const text = inspect([told, outcomes, answer], { depth: 20, showHidden: true, maxStringLength: null });
    const digests = (await signDelivery({ body, secret: [SECRET, OLDER_SECRET], timestamp: NOW })).match(
      /[0-9a-f]{64}/g,
    );
    for (const secret of [SECRET, OLDER_SECRET, SECRET.slice(6), PAYLOAD, ...(digests ?? [])]) {
      expect(text).not.toContain(secret);
    }
    expect(text).not.toMatch(/[0-9a-f]{64}/);
    // What is answered is a code, with nothing of a stack, of the app's words or of the request.
    expect(JSON.parse(answer.body ?? '')).toEqual({ code });
    expect(Object.keys(answer.headers).filter((name) => !/^(content-type|allow|retry-after)$/.test(name))).toEqual([]);
  });
});

test('errors at construction do not show a secret either', async () => {
  const wrong = [
    `"${SECRET}"`,
    `${SECRET},${OLDER_SECRET}`,
    ` x${SECRET}`,
    [SECRET, ''],
    { company: `${SECRET} ${OLDER_SECRET}` },
  ];
  for (const secret of wrong) {
    const error = await thrownBy(() => createReceiver({ secret }));
    expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/7Qm2Zr9t|5Jd8Pw3y/);
  }
});

test('the console’s lines are as clean as the logger’s', async () => {
  const lines: unknown[] = [];
  const spies = (['warn', 'error'] as const).map((method) =>
    jest.spyOn(console, method).mockImplementation((...args) => void lines.push(args)),
  );
  const receiver = createReceiver({ secret: SECRET, nowSeconds: () => NOW, handler() {} });
  await receiver.receive(await delivery(body, { secret: OLDER_SECRET }));
  await receiver.receive(await delivery(`{"id":"one", ${PAYLOAD}`));
  for (const spy of spies) spy.mockRestore();
  expect(lines).toHaveLength(2);
  expect(inspect(lines, { depth: 20 })).not.toMatch(/7Qm2Zr9t|5Jd8Pw3y|ACME|[0-9a-f]{64}/);
});
