import { gzipSync } from 'node:zlib';
import { createReceiver, type FactuareaEvent, type ReceiverOptions } from '@factuarea-webhook/core';
import { nodeHandler } from '@factuarea-webhook/node';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { head, NOW, type Recorder, type Running, recorder, send, signed, start, until, Wire } from './support.ts';

let running: Running;
let record: Recorder;
let handled: FactuareaEvent[];

async function serve(options: ReceiverOptions = {}): Promise<void> {
  const handler = (event: FactuareaEvent): void => {
    handled.push(event);
  };
  running = await start(nodeHandler(createReceiver({ ...record.options, handler, ...options })));
}

beforeEach(() => {
  record = recorder();
  handled = [];
});

afterEach(() => running?.close());

test('a receiver without a handler is refused when the function is made', () => {
  expect(() => nodeHandler(createReceiver(record.options))).toThrow(expect.objectContaining({ code: 'config_error' }));
});

describe('bytes', () => {
  const exact = Buffer.from(
    '7b20226964223a20226576745f623032222c20202274797065223a22696e766f6963652e70616964222c2264617461223a7b22746f74616c223a312e302c226e6f7465223a226361665c7530306539205c2f205c75643833645c7564653030222c22626967223a393030373139393235343734303939337d7d0a',
    'hex',
  );
  const signature = 't=1767225600,v1=26e38aac4c40679d9fae08a495bed5a800329804543f734529aa57acf27fcc15';

  test('are verified as they came: the same JSON written out anew is refused', async () => {
    await serve();
    const again = JSON.stringify(JSON.parse(exact.toString()));
    expect(await send(running.port, { body: again, signature })).toMatchObject({ status: 401 });
    expect(record.calls).toEqual([]);
    expect(await send(running.port, { body: exact, signature })).toMatchObject({ status: 200 });
    expect(handled.map(({ id }) => id)).toEqual(['evt_b02']);
  });

  const first = Buffer.from(
    '7b226964223a226576745f623033222c2274797065223a22696e766f6963652e70616964222c2264617461223a7b22746f74616c223a31322e35302c2277686f223a22c581756b61737a20f09f',
    'hex',
  );
  const second = Buffer.from('9880227d7d', 'hex');
  const ofSplit = 't=1767225600,v1=a1887f1af574ea7d016508916c6a5e6f641726f792e50f61af3e0ced6f3dd4de';

  test.each(['declared', 'chunked'])('a character cut between two packets, %s', async (how) => {
    await serve();
    const wire = new Wire(running.port);
    const isChunked = how === 'chunked';
    const frame = (bytes: Buffer): Buffer =>
      isChunked ? Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]) : bytes;
    wire.write(
      head({
        'factuarea-signature': ofSplit,
        connection: 'close',
        ...(isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': first.length + second.length }),
      }),
      frame(first),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    wire.write(frame(second), isChunked ? '0\r\n\r\n' : '');
    expect(await wire.has('"code"')).toMatch(/^HTTP\/1.1 200 OK/);
    expect(handled[0]?.data).toMatchObject({ who: 'Łukasz 😀' });
  });

  test('the content type decides nothing', async () => {
    await serve();
    const types = ['application/json; charset=iso-8859-1', 'application/vnd.factuarea.v1+json', 'text/plain', ''];
    for (const type of types) {
      expect(await send(running.port, { ...(await signed()), headers: { 'content-type': type } })).toMatchObject({
        status: 200,
      });
    }
    expect(handled).toHaveLength(types.length);
  });

  test('compressed ones are refused unread', async () => {
    await serve();
    const { body, signature: valid } = await signed();
    const headers = { 'content-encoding': 'gzip' };
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
    for (const sent of [gzipSync(body), bomb]) {
      expect(await send(running.port, { body: sent, signature: valid, headers })).toMatchObject({ status: 415 });
    }
    expect(record.calls).toEqual([]);
  });

  test('none at all: 400 where the signature is good, 401 without one', async () => {
    await serve();
    const ofEmpty = 't=1767225600,v1=cc8eedcc3f3959909e1b1514769b7de8f8b5a27a6286ae973a1a56518dcf912a';
    expect(await send(running.port, { signature: ofEmpty })).toMatchObject({ status: 400 });
    expect(await send(running.port, {})).toMatchObject({ status: 401 });
    expect(record.calls).toEqual([]);
  });
});

describe('refusals leave the connection usable', () => {
  test('a short body that nobody reads is thrown away, and the next delivery is handled', async () => {
    await serve();
    const { body, signature } = await signed();
    const wire = new Wire(running.port);
    wire.write(head({ 'content-length': 60_000 }));
    const refusal = await wire.has('"code"');
    expect(refusal).toMatch(/^HTTP\/1.1 401 /);
    expect(refusal).toMatch(/connection: keep-alive/i);
    wire.write(Buffer.alloc(60_000, ' '));
    wire.write(head({ 'content-length': body.length, 'factuarea-signature': signature }), body);
    expect(await wire.has('handled')).toMatch(/HTTP\/1.1 200 OK/);
    expect(wire.closed).toBe(false);
    wire.socket.destroy();
  });

  test('a short chunked body that came with its head is thrown away as well', async () => {
    await serve();
    const wire = new Wire(running.port);
    wire.write(`${head({ 'transfer-encoding': 'chunked' })}5\r\nhello\r\n0\r\n\r\n`);
    expect(await wire.has('"code"')).toMatch(/connection: keep-alive/i);
    wire.socket.destroy();
  });

  test('a short body that never comes does not hold the connection', async () => {
    await serve();
    const wire = new Wire(running.port).write(head({ 'content-length': 100 }), 'x');
    await wire.has('"code"');
    await wire.end();
  });

  test('a large declared body is refused before it is sent, and the connection is closed', async () => {
    await serve({ bodyLimit: 1000 });
    const wire = new Wire(running.port);
    wire.write(head({ 'content-length': 100_000, 'factuarea-signature': (await signed()).signature }));
    const refusal = await wire.has('"code"');
    expect(refusal).toMatch(/^HTTP\/1.1 413 /);
    expect(refusal).toMatch(/connection: close/i);
    await wire.end();
  });

  test('a sender that sends all of a large body before it reads gets to read the answer', async () => {
    await serve({ bodyLimit: 1000 });
    const { signature } = await signed();
    const size = 5 * 1024 * 1024;
    const wire = new Wire(running.port);
    wire.socket.pause();
    wire.write(head({ 'content-length': size, 'factuarea-signature': signature }));
    await new Promise<void>((resolve, reject) =>
      wire.socket.write(Buffer.alloc(size, ' '), (error) => (error ? reject(error) : resolve())),
    );
    wire.socket.resume();
    expect(await wire.has('body_too_large')).toMatch(/^HTTP\/1.1 413 /);
    await wire.end();
  });

  test('an endless chunked body is refused once it passes the limit', async () => {
    await serve({ bodyLimit: 100_000 });
    const { signature } = await signed();
    const wire = new Wire(running.port);
    wire.write(head({ 'transfer-encoding': 'chunked', 'factuarea-signature': signature }));
    const sender = setInterval(() => wire.write(`4000\r\n${' '.repeat(0x4000)}\r\n`), 1);
    try {
      expect(await wire.has('body_too_large')).toMatch(/^HTTP\/1.1 413 /);
      await wire.end();
    } finally {
      clearInterval(sender);
    }
    expect(record.calls).toEqual([]);
  });

  test('a body that trickles is given up at the deadline', async () => {
    await serve({ timeoutSeconds: 1 });
    const { signature } = await signed();
    const wire = new Wire(running.port).write(head({ 'content-length': 100, 'factuarea-signature': signature }), '{');
    expect(await wire.has('body_incomplete')).toMatch(/^HTTP\/1.1 503 /);
    await wire.end();
  });
});

test('300 KiB are accepted', async () => {
  await serve();
  const { body, signature } = await signed(undefined, { note: 'x'.repeat(300 * 1024) });
  expect(await send(running.port, { body, signature })).toMatchObject({ status: 200 });
});

// A rejection that nobody handles makes jest fail the test in which it happens.
test('200 senders that leave in the middle of the body leave nothing behind', async () => {
  await serve();
  const { body, signature } = await signed();
  const wires = Array.from({ length: 200 }, () =>
    new Wire(running.port).write(head({ 'content-length': 200, 'factuarea-signature': signature }), body.slice(0, 40)),
  );
  await until(() => wires.every(({ socket }) => socket.bytesWritten > 40 && !socket.connecting));
  for (const { socket } of wires) socket.destroy();
  // Every request came to its end: none is left waiting for bytes.
  await until(() => record.outcomes.length === 200);
  expect(new Set(record.outcomes.map(({ code }) => code))).toEqual(new Set(['body_incomplete']));
  expect(record.calls).toEqual([]);
  expect(await send(running.port, await signed())).toMatchObject({ status: 200 });
});

describe('Expect: 100-continue', () => {
  test('is answered 100, and the body is read', async () => {
    await serve();
    const { body, signature } = await signed();
    const wire = new Wire(running.port).write(
      head({ 'content-length': body.length, 'factuarea-signature': signature, expect: '100-continue' }),
    );
    await wire.has('100 Continue');
    expect(await wire.write(body).has('handled')).toMatch(/HTTP\/1.1 200 OK/);
    wire.socket.destroy();
  });

  test('with a `checkContinue` listener the sender of a bad request is spared its body', async () => {
    await serve();
    running.server.on('checkContinue', nodeHandler(createReceiver({ ...record.options, handler: () => {} })));
    const { body, signature } = await signed();
    const refused = new Wire(running.port).write(head({ 'content-length': 9000, expect: '100-continue' }));
    expect(await refused.has('invalid_signature')).toMatch(/^HTTP\/1.1 401 /);
    await refused.end();

    const wire = new Wire(running.port).write(
      head({ 'content-length': body.length, 'factuarea-signature': signature, expect: '100-continue' }),
    );
    await wire.has('100 Continue');
    expect(await wire.write(body).has('handled')).toMatch(/HTTP\/1.1 200 OK/);
    wire.socket.destroy();
  });
});

describe('answers', () => {
  test.each(['GET', 'HEAD', 'OPTIONS', 'PUT'])('%s is answered 405 without a look at the body', async (method) => {
    await serve();
    const wire = new Wire(running.port).write(head({ 'content-length': 50 }, '/', method));
    const startedAt = performance.now();
    const answer = await wire.has('\r\n\r\n');
    // Sooner than an unread body is given up.
    expect(performance.now() - startedAt).toBeLessThan(900);
    expect(answer).toMatch(/^HTTP\/1.1 405 /);
    expect(answer).toMatch(/allow: POST/i);
    expect(record.outcomes[0]?.code).toBe('method_not_allowed');
    wire.socket.destroy();
  });

  test('the answer waits for the handler', async () => {
    let finish: () => void = () => {};
    let isRunning = false;
    await serve({
      handler: () =>
        new Promise<void>((resolve) => {
          isRunning = true;
          finish = resolve;
        }),
    });
    const { body, signature } = await signed();
    const wire = new Wire(running.port);
    wire.write(head({ 'content-length': body.length, 'factuarea-signature': signature }), body);
    await until(() => isRunning);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(wire.text).toBe('');
    finish();
    expect(await wire.has('handled')).toMatch(/^HTTP\/1.1 200 OK/);
    wire.socket.destroy();
  });

  test('a handler that rejects later is answered 500', async () => {
    await serve({ handler: () => new Promise((_, reject) => setTimeout(() => reject(new Error('late')), 50)) });
    expect(await send(running.port, await signed())).toMatchObject({ status: 500, text: '{"code":"handler_failed"}' });
  });

  test('none tells a secret, a digest, a stack or the payload', async () => {
    await serve({
      handler: () => {
        throw new Error('the ledger is closed');
      },
    });
    const { body, signature } = await signed();
    const stale = { body, signature: signature.replace(/t=\d+/, `t=${NOW - 4000}`) };
    const answers = [
      await send(running.port, { body: `${body} `, signature }),
      await send(running.port, stale),
      await send(running.port, { body, signature }),
    ];
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [401, '{"code":"invalid_signature"}'],
      [401, '{"code":"invalid_signature"}'],
      [500, '{"code":"handler_failed"}'],
    ]);
  });

  test('something else that has answered is left alone', async () => {
    const server = nodeHandler(createReceiver({ ...record.options, handler: () => {} }));
    running = await start((req, res) => {
      server(req, res);
      res.writeHead(202).end('mine');
    });
    expect(await send(running.port, await signed())).toMatchObject({ status: 202, text: 'mine' });
    await until(() => record.outcomes.length === 1);
  });
});
