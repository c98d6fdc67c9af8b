import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver, type FactuareaEvent } from '@factuarea-webhook/core';
import { fetchHandler } from '@factuarea-webhook/core/fetch';
import {
  companyDelivery,
  deliver,
  fetchTransport,
  ping,
  receiverTransport,
  socketTransport,
  verdictOf,
} from '@factuarea-webhook/testing';
import { afterEach, describe, expect, test } from '@jest/globals';

const secret = 'whsec_7Qm2Zr9tLk4XvB1nAe6H';
const servers: Server[] = [];

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

describe('verdictOf', () => {
  test.each<[number | undefined, string]>([
    [200, 'delivered'],
    [204, 'delivered'],
    [299, 'delivered'],
    [301, 'failed_permanently'],
    [308, 'failed_permanently'],
    [400, 'failed_permanently'],
    [401, 'failed_permanently'],
    [409, 'failed_permanently'],
    [422, 'failed_permanently'],
    [408, 'retry'],
    [425, 'retry'],
    [429, 'retry'],
    [500, 'retry'],
    [503, 'retry'],
    [599, 'retry'],
    [undefined, 'retry'],
  ])('%s: %s', (status, verdict) => {
    expect(verdictOf(status)).toBe(verdict);
  });
});

describe('deliver', () => {
  test('sends exactly the bytes and the headers, and gives the answer', async () => {
    const seen: { headers: IncomingMessage['headers']; body: Buffer }[] = [];
    const url = await serve(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      seen.push({ headers: request.headers, body: Buffer.concat(parts) });
      response.writeHead(202, { 'x-own': 'yes' }).end('taken');
    });
    const delivery = companyDelivery('invoice.sent');
    const attempt = await deliver(url, delivery, { secret, timestamp: 1_767_225_600 });
    expect(attempt).toMatchObject({
      status: 202,
      body: 'taken',
      verdict: 'delivered',
      timestamp: 1_767_225_600,
      error: undefined,
      headers: { 'x-own': 'yes' },
    });
    expect(attempt.durationMs).toBeGreaterThan(0);
    expect(seen[0]?.headers).toMatchObject(await delivery.headers(secret, 1_767_225_600));
    expect(seen[0]?.body.equals(delivery.body)).toBe(true);
  });

  test.each(['\u{1f600}', 'ñ', '\u3042'])('an id of %s goes into the headers as its UTF-8 bytes', async (id) => {
    const seen: string[] = [];
    const see = (value: unknown): number => seen.push(Buffer.from(String(value), 'latin1').toString());
    const url = await serve((request, response) => {
      see(request.headers['factuarea-event-id']);
      response.end();
    });
    const handed = fetchTransport((request) => {
      see(request.headers.get('factuarea-event-id'));
      return new Response();
    });
    for (const transport of [socketTransport(), handed]) {
      const attempt = await deliver(url, companyDelivery('invoice.sent', { id }), { secret, transport });
      expect([attempt.error, attempt.status]).toEqual([undefined, 200]);
    }
    expect(seen).toEqual([id, id]);
  });

  test('does not follow a redirect', async () => {
    const paths: (string | undefined)[] = [];
    const url = await serve((request, response) => {
      paths.push(request.url);
      response.writeHead(308, { location: '/elsewhere' }).end();
    });
    expect(await deliver(url, ping(), { secret })).toMatchObject({ status: 308, verdict: 'failed_permanently' });
    expect(paths).toEqual(['/hook']);
  });

  test('gives up after the time limit, and that is retried', async () => {
    const url = await serve(() => {});
    const attempt = await deliver(url, ping(), { secret, timeoutSeconds: 1 });
    expect(attempt).toMatchObject({ status: undefined, verdict: 'retry', error: 'no answer within 1 s', body: '' });
    expect(attempt.durationMs).toBeGreaterThanOrEqual(990);
  });

  test('a receiver that is not there is a result', async () => {
    const url = await serve(() => {});
    const server = servers.pop() as Server;
    await new Promise((resolve) => server.close(resolve));
    expect(await deliver(url, ping(), { secret })).toMatchObject({
      status: undefined,
      verdict: 'retry',
      error: expect.stringContaining('ECONNREFUSED'),
    });
  });

  test('an answer that breaks off is no answer', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('half', () => response.destroy());
    });
    expect(await deliver(url, ping(), { secret })).toMatchObject({ status: undefined, verdict: 'retry' });
  });

  test.each([0, 31, Number.NaN])('refuses a time limit of %s s', async (timeoutSeconds) => {
    await expect(deliver('http://127.0.0.1:1', ping(), { secret, timeoutSeconds })).rejects.toMatchObject({
      code: 'config_error',
    });
  });

  test('refuses a URL and a secret that nothing can be sent with', async () => {
    await expect(deliver('/hook', ping(), { secret })).rejects.toMatchObject({ code: 'config_error' });
    await expect(deliver('http://127.0.0.1:1', ping(), { secret: '' })).rejects.toMatchObject({ code: 'config_error' });
  });
});

describe('socketTransport', () => {
  test('uses a connection again only where it was told to', async () => {
    const ports: (number | undefined)[] = [];
    const url = await serve((request, response) => {
      ports.push(request.socket.remotePort);
      response.end('ok');
    });
    for (const keepAlive of [false, true]) {
      const transport = socketTransport({ keepAlive });
      for (const _ of [1, 2]) expect(await deliver(url, ping(), { secret, transport })).toMatchObject({ status: 200 });
      transport.close();
    }
    expect(ports[1]).not.toBe(ports[0]);
    expect(ports[3]).toBe(ports[2]);
  });

  test('sends a request once: whether the receiver had taken it when the connection broke is not known', async () => {
    let requests = 0;
    const url = await serve((request, response) => {
      if (++requests === 1) response.end('ok');
      else request.socket.destroy();
    });
    const transport = socketTransport({ keepAlive: true });
    const send = (): Promise<unknown> => deliver(url, ping(), { secret, transport }).then(({ status }) => status);
    expect([await send(), await send(), requests]).toEqual([200, undefined, 2]);
    transport.close();
  });

  test('keeps no more of an endless answer than anybody needs', async () => {
    const url = await serve((_, response) => void response.end('x'.repeat(1_000_000)));
    expect((await deliver(url, ping(), { secret })).body.length).toBe(65_536);
  });
});

describe('in memory', () => {
  const events: FactuareaEvent[] = [];
  const logger = { info() {}, warn() {}, error() {} };
  const handler = (event: FactuareaEvent): unknown => events.push(event);

  test('a receiver', async () => {
    const receiver = createReceiver({ secret, handler, logger });
    const delivery = companyDelivery('invoice.sent');
    const attempt = await deliver('memory:', delivery, { secret, transport: receiverTransport(receiver) });
    expect(attempt).toMatchObject({ status: 200, body: '{"code":"handled"}', verdict: 'delivered' });
    expect(events.at(-1)?.id).toBe(delivery.event.id);
  });

  test('a receiver in its middleware form', async () => {
    const transport = receiverTransport(createReceiver({ secret, logger }), () => 418);
    expect(await deliver('memory:', companyDelivery('invoice.sent'), { secret, transport })).toMatchObject({
      status: 418,
      verdict: 'failed_permanently',
    });
  });

  test('a Fetch handler', async () => {
    const handle = fetchHandler(createReceiver({ secret, handler, logger }));
    const transport = fetchTransport((request) => handle(request) as Promise<Response>);
    const delivery = companyDelivery('invoice.sent');
    const attempt = await deliver('http://in.memory/hook', delivery, { secret, transport });
    expect(attempt).toMatchObject({ status: 200, body: '{"code":"handled"}' });
    expect(events.at(-1)?.id).toBe(delivery.event.id);
  });

  test('a handler that never ends meets the time limit', async () => {
    const transport = fetchTransport(() => new Promise(() => {}));
    expect(await deliver('http://in.memory/', ping(), { secret, transport, timeoutSeconds: 1 })).toMatchObject({
      verdict: 'retry',
      error: 'no answer within 1 s',
    });
  });
});
