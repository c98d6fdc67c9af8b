import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe as nodeDescribe, test as nodeTest } from 'node:test';
import { createReceiver } from '@factuarea-webhook/core';
import { fetchHandler } from '@factuarea-webhook/core/fetch';
import { companyDelivery, contractConfig, deliver, fetchTransport, type TestRunner } from '@factuarea-webhook/testing';
import {
  type ContractApp,
  contractApp,
  STREAM_CHUNK_BYTES,
  STREAM_CHUNKS,
  writeAnswer,
} from '@factuarea-webhook/testing/contract-app';
import { describe, expect, test } from '@jest/globals';

/** What a route behind `core/fetch` answers to an event that asks for this. */
async function respond(app: ContractApp, secret: string, behave: string): Promise<{ status: number; body: string }> {
  const handle = fetchHandler(createReceiver(app.middlewareOptions), (_, context) => app.respond(context));
  const delivery = companyDelivery('invoice.sent', { resource: { metadata: { behave: [behave] } } });
  const transport = fetchTransport((request) => handle(request) as Promise<Response>);
  const { status = 0, body } = await deliver('http://in.memory/', delivery, { secret, transport });
  return { status, body };
}

describe('contractApp', () => {
  test('is the same app for the same run, however often its module is asked', () => {
    const config = contractConfig();
    expect(contractApp(config)).toBe(contractApp(JSON.parse(JSON.stringify(config)) as typeof config));
    expect(contractApp(contractConfig())).not.toBe(contractApp(config));
  });

  test('hands out its state as a copy', async () => {
    const config = contractConfig();
    const app = contractApp(config);
    const empty = app.state();
    expect(empty).toEqual({ runs: [], outcomes: [], logs: [], store: [], unhandled: [] });
    await respond(app, config.secrets.company, 'succeed');
    expect(empty.runs).toEqual([]);
    expect(app.state().runs).toMatchObject([{ form: 'middleware', ended: 'succeeded', endpoint: 'company' }]);
  });

  test('answers as a Fetch route', async () => {
    const config = contractConfig();
    const app = contractApp(config);
    const { company } = config.secrets;
    expect(await respond(app, company, 'succeed')).toEqual({ status: 200, body: 'app:200' });
    expect(await respond(app, company, 'status:204')).toEqual({ status: 204, body: '' });
    expect(await respond(app, company, 'status:418')).toEqual({ status: 418, body: 'app:418' });
    expect((await respond(app, company, 'close')).status).toBe(500);
    expect((await respond(app, company, 'stream')).status).toBe(200);
  });
});

describe('writeAnswer', () => {
  async function fetched(behave: string): Promise<Response> {
    const config = contractConfig();
    const app = contractApp(config);
    const receiver = createReceiver(app.middlewareOptions);
    const server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      await receiver.receive(
        { method: 'POST', header: (name) => request.headers[name], body: async () => Buffer.concat(parts) },
        async (_, context) => {
          await writeAnswer(response, await app.route(context));
          return response.statusCode;
        },
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const delivery = companyDelivery('invoice.sent', { resource: { metadata: { behave: [behave] } } });
    try {
      const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {
        method: 'POST',
        headers: await delivery.headers(config.secrets.company),
        body: delivery.body as Uint8Array<ArrayBuffer>,
      });
      return new Response(await response.arrayBuffer(), { status: response.status, headers: response.headers });
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  test('writes text, and streams without waiting for ever', async () => {
    const text = await fetched('status:201');
    expect([text.status, text.headers.get('x-app'), await text.text()]).toEqual([201, 'contract', 'app:201']);
    expect((await (await fetched('stream')).arrayBuffer()).byteLength).toBe(STREAM_CHUNKS * STREAM_CHUNK_BYTES);
  });

  test('breaks the connection off where the route would', async () => {
    await expect(fetched('close')).rejects.toThrow('fetch failed');
  });
});

test('the functions of node:test are a test runner too', () => {
  const runner: TestRunner = { describe: nodeDescribe, test: nodeTest, beforeAll: before, afterAll: after };
  expect(Object.values(runner).every((one) => typeof one === 'function')).toBe(true);
});
