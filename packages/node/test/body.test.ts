import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { createReceiver } from '@factuarea-webhook/core';
import { nodeHandler, toIncoming } from '@factuarea-webhook/node';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { head, type Recorder, type Running, recorder, send, signed, start, until, Wire } from './support.ts';

type Request = IncomingMessage & { rawBody?: unknown; body?: unknown };

let running: Running | undefined;
let record: Recorder;

beforeEach(() => {
  record = recorder();
});

afterEach(async () => {
  await running?.close();
  running = undefined;
});

/** Serves the webhook behind something that has its own way with the body. */
async function serveBehind(before: (req: Request, next: () => void) => void): Promise<number> {
  const handler = nodeHandler(createReceiver({ ...record.options, handler: () => {} }));
  running = await start((req, res) => before(req, () => handler(req, res)));
  return running.port;
}

async function readAll(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe('bytes that were kept', () => {
  const keepers: Record<string, (req: Request, bytes: Buffer) => void> = {
    'rawBody as a Buffer': (req, bytes) => {
      req.rawBody = bytes;
    },
    'rawBody as a Uint8Array': (req, bytes) => {
      req.rawBody = new Uint8Array(bytes);
    },
    'rawBody as a string': (req, bytes) => {
      req.rawBody = bytes.toString();
    },
    'body as a Buffer': (req, bytes) => {
      req.body = bytes;
    },
    'rawBody beside a parsed body': (req, bytes) => {
      req.body = JSON.parse(bytes.toString());
      req.rawBody = bytes;
    },
  };

  test.each(Object.entries(keepers))('%s', async (_, keep) => {
    const port = await serveBehind(async (req, next) => {
      keep(req, await readAll(req));
      next();
    });
    expect(await send(port, await signed(undefined, { note: 'ñ' }))).toMatchObject({ status: 200 });
    const { body, signature } = await signed();
    expect(await send(port, { body: body.replace('inv_1', 'inv_2'), signature })).toMatchObject({ status: 401 });
  });

  test('are waited for while another middleware is still collecting them', async () => {
    const port = await serveBehind((req, next) => {
      req.rawBody = '';
      req.setEncoding('utf8');
      req.on('data', (text: string) => {
        req.rawBody += text;
      });
      req.once('data', next);
    });
    const { body, signature } = await signed(undefined, { note: 'ñ'.repeat(200_000) });
    expect(await send(port, { body, signature })).toMatchObject({ status: 200 });
  });

  test('half of them, from a sender that left, are none', async () => {
    const port = await serveBehind((req, next) => {
      req.rawBody = Buffer.alloc(0);
      req.on('data', (chunk: Buffer) => {
        req.rawBody = Buffer.concat([req.rawBody as Buffer, chunk]);
      });
      req.once('data', next);
    });
    const { body, signature } = await signed();
    const headers = { 'transfer-encoding': 'chunked', 'factuarea-signature': signature };
    const wire = new Wire(port).write(head(headers), `${body.length.toString(16)}\r\n${body}\r\n`);
    await until(() => wire.socket.bytesWritten > body.length);
    // Long enough for the request to have reached the handler: another one goes there and back.
    expect(await send(port, { body: 'x' })).toMatchObject({ status: 401 });
    wire.socket.destroy();
    await until(() => record.outcomes.length === 2);
    expect(record.outcomes[1]?.code).toBe('body_incomplete');
    expect(record.calls).toEqual([]);
  });
});

describe('an untouched stream', () => {
  test('is read although somebody has set an empty body', async () => {
    const port = await serveBehind((req, next) => {
      req.body = {};
      req.rawBody = '';
      next();
    });
    expect(await send(port, await signed())).toMatchObject({ status: 200 });
  });

  test('is read beside a listener that was there first', async () => {
    let seen = 0;
    const port = await serveBehind((req, next) => {
      req.on('data', (chunk: Buffer) => {
        seen += chunk.length;
      });
      next();
    });
    const { body, signature } = await signed();
    expect(await send(port, { body, signature })).toMatchObject({ status: 200 });
    expect(seen).toBe(body.length);
    expect(await send(port, { body })).toMatchObject({ status: 401 });
    expect(seen).toBe(2 * body.length);
  });
});

describe('a body that somebody else has read is answered 500 at once, naming', () => {
  const culprits: [string, (req: Request, next: () => void) => void, RegExp][] = [
    [
      'a JSON parser',
      async (req, next) => {
        req.body = JSON.parse((await readAll(req)).toString());
        next();
      },
      /JSON parser such as express\.json\(\).*verify/,
    ],
    [
      'a text parser',
      async (req, next) => {
        req.body = (await readAll(req)).toString();
        next();
      },
      /text parser such as express\.text\(\)/,
    ],
    [
      'an encoding',
      (req, next) => {
        req.setEncoding('utf8');
        next();
      },
      /setEncoding\('utf8'\)/,
    ],
    ['a stream that was drained', (req, next) => req.on('end', next).resume(), /has read the request’s stream/],
    ['a stream that is being read', (req, next) => req.once('data', next), /has read the request’s stream/],
    [
      'a property that throws',
      async (req, next) => {
        await readAll(req);
        Object.defineProperty(req, 'body', {
          get() {
            throw new SyntaxError('Invalid JSON');
          },
        });
        next();
      },
      /has read the request’s stream/,
    ],
  ];

  test.each(culprits)('%s', async (_, before, named) => {
    const port = await serveBehind(before);
    const startedAt = performance.now();
    expect(await send(port, await signed())).toMatchObject({ status: 500, text: '{"code":"body_unavailable"}' });
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect(record.logs[0]).toMatch(named);
    expect(record.calls).toEqual([]);
  });
});

test('a stream that closes without a word is no endless wait', async () => {
  const req = new IncomingMessage(new Socket());
  const reading = toIncoming(req).body(1000);
  req.push('{');
  // Wrappers of other servers close so: no `aborted`, no `error`.
  req.emit('close');
  await expect(reading).rejects.toMatchObject({ code: 'body_incomplete' });
});

test('a stream that was destroyed before it was read is no endless wait', async () => {
  const req = new IncomingMessage(new Socket());
  req.destroy();
  await expect(toIncoming(req).body(1000)).rejects.toMatchObject({ code: 'body_incomplete' });
});

test('an error after the limit was passed does not end the process', async () => {
  const req = new IncomingMessage(new Socket());
  const reading = toIncoming(req).body(10);
  req.push('x'.repeat(11));
  await expect(reading).rejects.toMatchObject({ code: 'body_too_large' });
  expect(() => req.emit('error', new Error('read ECONNRESET'))).not.toThrow();
});

test('exactly the limit is no byte too many', async () => {
  const req = new IncomingMessage(new Socket());
  const reading = toIncoming(req).body(10);
  req.push('x'.repeat(10));
  req.push(null);
  expect(Buffer.from(await reading).toString()).toBe('xxxxxxxxxx');
});
