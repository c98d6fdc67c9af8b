import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { companyDelivery, deliver, type FactuareaDelivery, redelivery, twinsOf } from '@factuarea-webhook/testing';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { SECRET } from './fixtures/receiver.ts';
import { type Listening, startListening } from './listen.ts';
import { run } from './run.ts';

jest.setTimeout(60_000);

let listening: Listening | undefined;
afterEach(async () => {
  await listening?.close();
  listening = undefined;
});

async function listen(...args: string[]): Promise<Listening> {
  listening = await startListening(...args);
  return listening;
}

const send = (to: Listening, delivery: FactuareaDelivery, secret = SECRET): ReturnType<typeof deliver> =>
  deliver(`${to.url}factuarea/webhook`, delivery, { secret });

/** A request whose Host and other headers are ours to choose, which fetch does not allow. */
function ask(url: string, { method = 'GET', headers = {}, body = '' } = {}): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      // A stream of events does not end by itself: its head is enough.
      if (response.headers['content-type'] === 'text/event-stream') {
        sent.destroy();
        return resolve({ status: response.statusCode ?? 0, text: '' });
      }
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('deliveries', () => {
  test('says whether each verifies, why not, and which it repeats', async () => {
    const to = await listen('--secret', SECRET);
    const { company, account } = twinsOf('invoice.sent');
    expect((await send(to, company)).status).toBe(200);
    expect(await to.next()).toMatchObject({
      number: 1,
      verdict: 'good',
      findings: [],
      path: '/factuarea/webhook',
      event: { id: company.event.id, type: 'invoice.sent', endpoint: 'company' },
      answer: { status: 200 },
      body: Buffer.from(company.body).toString(),
      bytes: company.body.length,
    });
    await send(to, account);
    expect(await to.next()).toMatchObject({ number: 2, repeatOf: 1, event: { endpoint: 'account' } });
    expect((await send(to, companyDelivery('invoice.paid'), 'whsec_5Jd8Pw3yHs6TqUc0RfGz')).status).toBe(401);
    expect(await to.next()).toMatchObject({
      verdict: 'bad',
      findings: [{ code: 'secret_wrong' }],
      answer: { status: 401 },
    });
    const forged = redelivery(companyDelivery('invoice.paid', { id: company.event.id }));
    await send(to, forged, 'whsec_5Jd8Pw3yHs6TqUc0RfGz');
    expect(await to.next()).toMatchObject({ verdict: 'bad', repeatOf: 1 });
  });

  test('without a secret nothing is verified, and nothing refused', async () => {
    const to = await listen();
    expect((await send(to, companyDelivery('invoice.sent'))).status).toBe(200);
    expect(await to.next()).toMatchObject({ verdict: 'unchecked', findings: [] });
  });

  test('bytes that are no text, and no event, are captured too', async () => {
    const to = await listen('--secret', SECRET);
    await fetch(to.url, { method: 'POST', body: new Uint8Array([0xff, 0xfe, 0x00]) });
    expect(await to.next()).toMatchObject({ body: null, bytes: 3, verdict: 'bad' });
  });

  test('a body over 10 MiB is refused', async () => {
    const to = await listen('--secret', SECRET);
    const { status } = await ask(to.url, { method: 'POST', body: 'x'.repeat(10 * 1024 * 1024 + 1) }).catch(() => ({
      // Refused while it was still being sent.
      status: 413,
    }));
    expect(status).toBe(413);
    expect((await send(to, companyDelivery('invoice.sent'))).status).toBe(200);
  });

  test('passes on the same bytes and headers, and gives the app’s answer back', async () => {
    const seen: { headers: string[]; body: Buffer }[] = [];
    const app = createServer(async (incoming, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      seen.push({ headers: incoming.rawHeaders, body: Buffer.concat(chunks) });
      response.writeHead(503, { 'retry-after': '7', 'content-type': 'text/plain', 'x-own': '1' }).end('busy');
    });
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    try {
      const to = await listen(
        '--secret',
        SECRET,
        '--forward-to',
        `127.0.0.1:${(app.address() as AddressInfo).port}/wh`,
      );
      const delivery = companyDelivery('invoice.sent', { resource: { note: 'Peña/😀' } });
      const attempt = await send(to, delivery);
      expect(attempt).toMatchObject({ status: 503, body: 'busy', verdict: 'retry' });
      expect(attempt.headers['retry-after']).toBe('7');
      expect(seen[0]?.body).toEqual(Buffer.from(delivery.body));
      expect(seen[0]?.headers.join('\n')).toContain(`factuarea-delivery-id\n${delivery.id}`);
      expect(await to.next()).toMatchObject({ verdict: 'good', forwarded: { status: 503, body: 'busy' } });
    } finally {
      app.close();
    }
  });

  test('an app that does not answer is a 502, which Factuarea tries again', async () => {
    const to = await listen('--secret', SECRET, '--forward-to', 'http://127.0.0.1:1/wh');
    expect(await send(to, companyDelivery('invoice.sent'))).toMatchObject({ status: 502, verdict: 'retry' });
    expect((await to.next()).forwarded?.error).toContain('ECONNREFUSED');
  });
});

describe('nobody else sees what was captured', () => {
  const at = (to: Listening, path: string): string => `${to.url}${path}`;

  test('the data needs the key from the printed link', async () => {
    const to = await listen('--secret', SECRET);
    expect((await ask(at(to, '_listen/events'))).status).toBe(403);
    expect((await ask(at(to, '_listen/events?key=guess'))).status).toBe(403);
    expect((await ask(at(to, `_listen/events?key=${to.key}`))).status).toBe(200);
    expect(to.key).toMatch(/^[\w-]{22}$/);
  });

  test.each([
    ['another name for this address', { host: 'attacker.example' }],
    ['a tunnel that rewrites Host', { 'x-forwarded-for': '203.0.113.9' }],
    ['a proxy', { forwarded: 'for=203.0.113.9' }],
  ])('%s gets neither page nor data', async (_name, headers) => {
    const to = await listen('--secret', SECRET);
    for (const path of ['', '_listen/page.js', `_listen/events?key=${to.key}`]) {
      expect((await ask(at(to, path), { headers })).status).toBe(403);
    }
  });

  test('sending again needs the page’s origin, the key, and JSON', async () => {
    const to = await listen('--secret', SECRET);
    await send(to, companyDelivery('invoice.sent'));
    await to.next();
    const origin = to.url.slice(0, -1);
    const good = { origin, 'x-listen-key': to.key, 'content-type': 'application/json' };
    const again = async (headers: Record<string, string>): Promise<number> =>
      (await ask(at(to, '_listen/resend'), { method: 'POST', headers, body: '{"number":1}' })).status;
    expect(await again({ ...good, origin: 'https://attacker.example' })).toBe(403);
    expect(await again({ 'x-listen-key': to.key, 'content-type': 'application/json' })).toBe(403);
    expect(await again({ ...good, 'x-listen-key': 'guess' })).toBe(403);
    expect(await again({ ...good, 'content-type': 'text/plain' })).toBe(403);
    expect(await again({ ...good, host: 'attacker.example', origin: 'http://attacker.example' })).toBe(403);
    expect(await again(good)).toBe(200);
    expect(await to.next()).toMatchObject({ number: 2, resendOf: 1, repeatOf: 1, verdict: 'good' });
  });

  test('listens on this machine only', async () => {
    const to = await listen();
    expect(new URL(to.url).hostname).toBe('127.0.0.1');
  });
});

test('a port that is taken is exit code 3, with a way out', async () => {
  const to = await listen();
  const { code, stderr } = await run(['listen', '--port', new URL(to.url).port]);
  expect(code).toBe(3);
  expect(stderr).toContain('Give another --port');
});

test('Ctrl-C ends it with exit code 0, open pages or not', async () => {
  const to = await startListening('--secret', SECRET);
  const watching = await fetch(`${to.url}_listen/events?key=${to.key}`);
  const ended = watching.text().catch(() => 'cut off');
  expect(await to.close()).toBe(0);
  await ended;
});
