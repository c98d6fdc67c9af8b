import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver, verifySignature } from '@factuarea-webhook/core';
import {
  accountDelivery,
  companyDelivery,
  FactuareaSender,
  fastClock,
  type ManualClock,
  manualClock,
  realClock,
  receiverTransport,
  retryCalendar,
  type SenderOptions,
  storm,
  type Transport,
  twinsOf,
} from '@factuarea-webhook/testing';
import { afterEach, describe, expect, jest, test } from '@jest/globals';

const SECRET = 'whsec_7Qm2Zr9tLk4XvB1nAe6H';
const OTHER = 'whsec_5Jd8Pw3yHs6TqUc0RfGz';
const MINUTE = 60_000;
const DAY = 86_400_000;
const logger = { info() {}, warn() {}, error() {} };
const endpoints = {
  company: { url: 'http://in.memory/', secret: SECRET as string | string[] },
  account: { url: 'http://in.memory/', secret: OTHER as string | string[] },
};

/** A receiver that answers with these statuses in turn, and with the last of them for ever. */
function answering(...statuses: number[]): Transport & { requests: Parameters<Transport>[0][] } {
  const requests: Parameters<Transport>[0][] = [];
  const transport: Transport = async (request) => {
    requests.push(request);
    return {
      status: statuses[requests.length - 1] ?? (statuses.at(-1) as number),
      headers: {},
      body: 'x'.repeat(5000),
    };
  };
  return Object.assign(transport, { requests });
}

function playing(
  transport: Transport,
  more: Partial<SenderOptions<'company' | 'account'>> = {},
): { sender: FactuareaSender<'company' | 'account'>; clock: ManualClock } {
  const clock = manualClock(1_767_225_600_000);
  return { sender: new FactuareaSender({ endpoints, clock, transport, jitter: 0, ...more }), clock };
}

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

describe('the calendar', () => {
  test('is Factuarea’s: eight attempts within 4 days 14 h 36 min', async () => {
    const { sender } = playing(answering(500));
    const sent = sender.send('company', companyDelivery('invoice.sent'));
    await sender.advance(6 * DAY);
    expect(await sent.finished).toBe('failed_permanently');
    const minutes = sent.attempts.map(({ at }) => (at.getTime() - 1_767_225_600_000) / MINUTE);
    expect(minutes).toEqual([0, 1, 6, 36, 156, 876, 2316, 6636]);
    expect(sent.attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(retryCalendar.reduce((sum, wait) => sum + wait, 0)).toBe(6636 * MINUTE);
  });

  test.each([
    [0, 54_000],
    [0.5, 60_000],
    [1, 66_000],
  ])('varies each wait by a tenth: %s', async (random, wait) => {
    const { sender, clock } = playing(answering(503), { jitter: 0.1, random: () => random });
    const sent = sender.send('company', companyDelivery('invoice.sent'));
    await sender.quiet();
    expect(sent.nextAttemptAt?.getTime()).toBe(clock.Date.now() + wait);
    sender.close();
  });

  test.each([500, 503, 408, 425, 429])('%s is tried again', async (status) => {
    const { sender } = playing(answering(status, 200));
    const sent = sender.send('company', companyDelivery('invoice.sent'));
    await sender.advance(MINUTE - 1);
    expect([sent.state, sent.attempts.length]).toEqual(['pending', 1]);
    await sender.advance(1);
    expect([sent.state, sent.attempts.length, sent.nextAttemptAt]).toEqual(['delivered', 2, undefined]);
  });

  test.each([301, 400, 401, 404, 409, 422])('%s is final', async (status) => {
    const { sender } = playing(answering(status, 200));
    const sent = sender.send('company', companyDelivery('invoice.sent'));
    await sender.advance(6 * DAY);
    expect([sent.state, sent.attempts.length]).toEqual(['failed_permanently', 1]);
  });

  test('no answer is tried again', async () => {
    const { sender } = playing(() => Promise.reject(new Error('gone')));
    const sent = sender.send('company', companyDelivery('invoice.sent'));
    await sender.quiet();
    expect(sent.attempts[0]).toMatchObject({ status: undefined, verdict: 'retry', error: 'gone' });
    sender.close();
  });

  test('can be a faster one, on the machine’s clock', async () => {
    const sender = new FactuareaSender({
      endpoints,
      transport: answering(500, 500, 200),
      calendar: [20, 20],
      clock: realClock,
    });
    const sent = sender.send('company', companyDelivery('invoice.sent'));
    expect(await sent.finished).toBe('delivered');
    expect(sent.attempts.length).toBe(3);
  });

  test('can run on a faster clock', async () => {
    const clock = fastClock(6000);
    const sender = new FactuareaSender({ endpoints, transport: answering(500, 200), clock, jitter: 0 });
    const startedAt = performance.now();
    const sent = sender.send('company', companyDelivery('invoice.sent'));
    await sender.finished();
    const took = performance.now() - startedAt;
    expect(took).toBeGreaterThan(8);
    const [first, second] = sent.attempts;
    expect((second?.at.getTime() ?? 0) - (first?.at.getTime() ?? 0)).toBeGreaterThanOrEqual(MINUTE * 0.9);
  });
});

test('timers that a test runner has replaced are the clock too', async () => {
  jest.useFakeTimers();
  try {
    const sender = new FactuareaSender({ endpoints, transport: answering(500, 500, 200), jitter: 0 });
    const sent = sender.send('company', companyDelivery('invoice.sent'));
    await sender.quiet();
    await jest.advanceTimersByTimeAsync(MINUTE);
    await sender.quiet();
    expect(sent.attempts.length).toBe(2);
    await jest.advanceTimersByTimeAsync(5 * MINUTE);
    expect(await sent.finished).toBe('delivered');
  } finally {
    jest.useRealTimers();
  }
});

describe('each attempt', () => {
  test('is signed anew, over the same bytes', async () => {
    let now = 1_767_225_600;
    const transport = answering(500, 200);
    const { sender } = playing(transport, { nowSeconds: () => now++ });
    sender.send('company', companyDelivery('invoice.sent'));
    await sender.advance(MINUTE);
    const [first, second] = transport.requests;
    expect(first?.headers['factuarea-signature']).toMatch(/^t=1767225600,/);
    expect(second?.headers['factuarea-signature']).toMatch(/^t=1767225601,/);
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['factuarea-delivery-id']).toBe(first?.headers['factuarea-delivery-id']);
  });

  test('uses the endpoint’s own secret, and both during a rotation', async () => {
    const transport = answering(200);
    const rotating = { ...endpoints, company: { ...endpoints.company } };
    const { sender } = playing(transport, { endpoints: rotating });
    const { company, account } = twinsOf('invoice.sent');
    sender.send('company', company);
    sender.send('account', account);
    await sender.quiet();
    rotating.company.secret = ['whsec_new', SECRET];
    sender.send('company', company);
    await sender.quiet();
    const expected = [[SECRET], [OTHER], ['whsec_new', SECRET]];
    for (const [at, secrets] of expected.entries()) {
      const request = transport.requests[at] as (typeof transport.requests)[number];
      expect(request.headers['factuarea-signature']?.split(',').length).toBe(1 + secrets.length);
      for (const secret of secrets) {
        expect(await verifySignature({ signature: request.headers, body: request.body, secret })).toMatchObject({
          ok: true,
        });
      }
    }
  });

  test('has its place in the history, with at most 1024 characters of the answer', async () => {
    const { sender } = playing(answering(422));
    const delivery = companyDelivery('invoice.sent');
    sender.send('company', delivery);
    sender.send('account', accountDelivery('invoice.paid'));
    await sender.quiet();
    expect(sender.history().map(({ endpoint }) => endpoint)).toEqual(['company', 'account']);
    const [entry] = sender.history('company');
    expect(entry).toEqual({
      endpoint: 'company',
      deliveryId: delivery.id,
      eventId: delivery.event.id,
      eventType: 'invoice.sent',
      attempt: 1,
      at: new Date(1_767_225_600_000),
      status: 422,
      body: 'x'.repeat(1024),
      durationMs: expect.any(Number),
      verdict: 'failed_permanently',
      timestamp: expect.any(Number),
      error: undefined,
    });
  });
});

describe('by hand', () => {
  test('a replay is a new delivery of the stored body', async () => {
    const transport = answering(422, 200);
    const { sender } = playing(transport);
    const first = sender.send('company', companyDelivery('invoice.sent'));
    await sender.advance(89 * DAY);
    const second = sender.replay(first);
    expect(await second.finished).toBe('delivered');
    expect(second.delivery.id).not.toBe(first.delivery.id);
    expect(second.delivery.event.id).toBe(first.delivery.event.id);
    expect(transport.requests[1]?.body).toBe(transport.requests[0]?.body);
    expect([first.state, first.attempts.length]).toEqual(['failed_permanently', 1]);
  });

  test('a retry re-arms the same delivery, from its first attempt', async () => {
    const transport = answering(422, 500, 200);
    const { sender } = playing(transport);
    const sent = sender.send('account', accountDelivery('invoice.sent'));
    expect(await sent.finished).toBe('failed_permanently');
    expect(sender.retry(sent)).toBe(sent);
    await sender.advance(MINUTE);
    expect(await sent.finished).toBe('delivered');
    expect(sent.attempts.map(({ status, attempt }) => [status, attempt])).toEqual([
      [422, 1],
      [500, 1],
      [200, 2],
    ]);
    expect(new Set(transport.requests.map(({ headers }) => headers['factuarea-delivery-id'])).size).toBe(1);
  });

  test('each kind of endpoint has one of the two, for 90 days, and never while it is being tried', async () => {
    const { sender } = playing(answering(422, 422, 500));
    const company = sender.send('company', companyDelivery('invoice.sent'));
    const account = sender.send('account', accountDelivery('invoice.sent'));
    const pending = sender.send('account', accountDelivery('invoice.sent'));
    await sender.quiet();
    const refused = expect.objectContaining({ code: 'config_error' });
    expect(() => sender.retry(company)).toThrow(refused);
    expect(() => sender.replay(account)).toThrow(refused);
    expect(() => sender.retry(pending)).toThrow(refused);
    await sender.advance(91 * DAY);
    expect(() => sender.replay(company)).toThrow(refused);
    expect(() => sender.retry(account)).toThrow(refused);
  });
});

describe('suspension', () => {
  test('after 100 permanent failures within 24 hours nothing is sent until a person acts', async () => {
    const { sender } = playing(answering(...Array<number>(100).fill(401), 200));
    for (let i = 0; i < 99; i++) sender.send('company', companyDelivery('invoice.sent'));
    await sender.quiet();
    expect(sender.isSuspended('company')).toBe(false);
    sender.send('company', companyDelivery('invoice.sent'));
    await sender.quiet();
    expect(sender.isSuspended('company')).toBe(true);
    const held = sender.send('company', companyDelivery('invoice.sent'));
    await sender.advance(DAY);
    expect([held.state, held.attempts.length]).toEqual(['pending', 0]);
    sender.resume('company');
    expect(await held.finished).toBe('delivered');
    expect([sender.isSuspended('company'), held.attempts.length]).toEqual([false, 1]);
  });

  test('failures spread over more than a day, or over other endpoints, do not add up', async () => {
    const { sender } = playing(answering(401));
    for (let i = 0; i < 60; i++) sender.send('company', companyDelivery('invoice.sent'));
    for (let i = 0; i < 60; i++) sender.send('account', accountDelivery('invoice.sent'));
    await sender.advance(DAY);
    for (let i = 0; i < 60; i++) sender.send('company', companyDelivery('invoice.sent'));
    await sender.quiet();
    expect([sender.isSuspended('company'), sender.isSuspended('account')]).toEqual([false, false]);
  });
});

describe('the sender', () => {
  test('refuses what it cannot work with', async () => {
    const refused = expect.objectContaining({ code: 'config_error' });
    const wrong = { company: { url: 'http://in.memory/', secret: SECRET, timeoutSeconds: 31 } };
    expect(() => new FactuareaSender({ endpoints: wrong })).toThrow(refused);
    const { sender } = playing(answering(200));
    expect(() => sender.send('elsewhere' as 'company', companyDelivery('invoice.sent'))).toThrow(refused);
    const unsigned = new FactuareaSender({ endpoints: { company: { url: 'http://in.memory/', secret: '' } } });
    await expect(unsigned.send('company', companyDelivery('invoice.sent')).finished).rejects.toEqual(refused);
    await expect(unsigned.advance(1)).rejects.toEqual(refused);
    unsigned.close();
  });

  test('has no more attempts on their way than `concurrency`', async () => {
    let now = 0;
    let most = 0;
    const transport: Transport = async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now--;
      return { status: 200, headers: {}, body: '' };
    };
    const sender = new FactuareaSender({ endpoints, transport, concurrency: 7 });
    const result = await storm(sender, { endpoint: 'company', events: 20, copies: 3 });
    expect([most, result.delivered]).toEqual([7, 60]);
  });

  test('makes no attempt once it is closed', async () => {
    const transport = answering(500);
    const { sender, clock } = playing(transport);
    const sent = sender.send('company', companyDelivery('invoice.sent'));
    await sender.quiet();
    sender.close();
    await clock.tickAsync(DAY);
    expect(await sent.finished).toBe('pending');
    expect(transport.requests.length).toBe(1);
  });
});

describe('storm', () => {
  test('every copy is answered 200 in the end, and every event is handled once', async () => {
    const handled: string[] = [];
    const receiver = createReceiver({
      secret: { company: SECRET },
      logger,
      handler: async (event) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        handled.push(event.id);
      },
    });
    const server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const answer = await receiver.receive({
        method: request.method ?? '',
        header: (name) => request.headers[name],
        body: async () => Buffer.concat(parts),
      });
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const sender = new FactuareaSender({
      endpoints: { company: { url, secret: SECRET } },
      calendar: [30, 60, 120, 240],
      concurrency: 40,
    });
    const result = await storm(sender, {
      endpoint: 'company',
      events: 30,
      copies: 10,
      make: (index) => companyDelivery('invoice.paid', { resource: { metadata: { index } } }),
    });
    sender.close();
    expect(result).toMatchObject({ delivered: 300, failedPermanently: 0 });
    expect(Object.keys(result.statuses).every((status) => ['200', '503'].includes(status))).toBe(true);
    expect(result.statuses[200]).toBe(300);
    expect(result.attempts).toBe(result.deliveries.reduce((sum, { attempts }) => sum + attempts.length, 0));
    expect(result.durationMs).toBeGreaterThan(20);
    expect(new Set(handled).size).toBe(30);
    expect(handled.length).toBe(30);
  });

  test('counts what got no answer, and what failed', async () => {
    const { sender } = playing((request) =>
      request.headers['factuarea-event-type'] === 'invoice.sent'
        ? Promise.resolve({ status: 400, headers: {}, body: '' })
        : Promise.reject(new Error('gone')),
    );
    const stormy = new FactuareaSender({ endpoints, calendar: [], transport: () => Promise.reject(new Error('gone')) });
    expect(await storm(stormy, { endpoint: 'company', events: 2 })).toMatchObject({
      delivered: 0,
      failedPermanently: 2,
      statuses: { none: 2 },
    });
    expect(await storm(sender, { endpoint: 'company', events: 2, copies: 2 })).toMatchObject({
      failedPermanently: 4,
      statuses: { 400: 4 },
    });
  });
});

test('the receiver can share the sender’s clock', async () => {
  const clock = manualClock();
  const nowSeconds = (): number => clock.Date.now() / 1000;
  let runs = 0;
  const receiver = createReceiver({
    secret: SECRET,
    logger,
    nowSeconds,
    handler: () => {
      if (++runs < 8) throw new Error('not yet');
    },
  });
  const sender = new FactuareaSender({ endpoints, clock, nowSeconds, transport: receiverTransport(receiver) });
  const sent = sender.send('company', companyDelivery('invoice.sent'));
  await sender.advance(6 * DAY);
  expect([sent.state, runs]).toEqual(['delivered', 8]);
});
