import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import {
  type Claim,
  type Context,
  createReceiver,
  FactuareaWebhookError,
  memoryStore,
  type OwnClaim,
  type Store,
} from '@factuarea-webhook/core';
import { nodeMiddleware } from '@factuarea-webhook/node';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { head, type Recorder, type Running, recorder, send, signed, start, until, Wire } from './support.ts';

type Route = (req: IncomingMessage & { factuarea?: Context }, res: ServerResponse) => unknown;

let running: Running;
let record: Recorder;
/** Lets `done` go on, where a test holds it. */
let settle: (() => void) | undefined;

beforeEach(() => {
  settle = undefined;
  record = recorder();
});

afterEach(() => running?.close());

async function serve(route: Route, before: RequestListener = () => {}): Promise<void> {
  const middleware = nodeMiddleware(createReceiver(record.options));
  running = await start((req, res) => {
    before(req, res);
    middleware(req, res, () => route(req, res));
  });
}

/** Makes `done` wait until the test calls `settle`. */
function holdSettling(): void {
  record = recorder(
    changeDone(async (done) => {
      await new Promise<void>((resolve) => {
        settle = resolve;
      });
      return done();
    }),
  );
}

function failCommit(): void {
  record = recorder((claim) => {
    const changed = changeDone(async () => {
      throw new FactuareaWebhookError('commit_failed', 'The connection was lost during COMMIT.');
    })(claim);
    // Only a store with a transaction can say that nothing was done.
    return { ...changed, tx: {} } as unknown as Claim;
  });
}

function changeDone(change: (done: () => Promise<boolean>) => Promise<boolean>): (claim: Claim) => Claim {
  return (claim) => (claim.state === 'mine' ? { ...claim, done: () => change(claim.done) } : claim);
}

async function deliver(id?: string): Promise<Wire> {
  const { body, signature } = await signed(id);
  const headers = { 'content-length': body.length, 'factuarea-signature': signature, connection: 'close' };
  return new Wire(running.port).write(head(headers), body);
}

const chunk = Buffer.alloc(10_000, 'x');

async function* chunks(count: number): AsyncGenerator<Buffer> {
  for (let i = 0; i < count; i++) yield chunk;
}

describe('no byte leaves before the event is settled', () => {
  const routes: Record<string, Route> = {
    'end with a text': (_, res) => res.end('done'),
    'writeHead and end': (_, res) => res.writeHead(201, { 'x-own': 'yes' }).end('done'),
    'write, then end': (_, res) => {
      res.write('do');
      res.end('ne');
    },
    'flushHeaders first': (_, res) => {
      res.flushHeaders();
      res.end('done');
    },
    pipe: (_, res) => Readable.from(chunks(100)).pipe(res),
    pipeline: (_, res) => pipeline(chunks(100), res, () => {}),
  };

  test.each(Object.entries(routes))('%s', async (_, route) => {
    holdSettling();
    await serve(route);
    const wire = await deliver();
    await until(() => settle !== undefined);
    // What had been let out would be here by the time that another request has gone there and back.
    expect(await send(running.port, {})).toMatchObject({ status: 401 });
    expect(wire.text).toBe('');
    settle?.();
    expect(await wire.has(/\r\n\r\n./)).toMatch(/^HTTP\/1.1 20[01] /);
    await wire.end();
  });
});

describe('what the app writes goes out unchanged', () => {
  test('status, reason, headers, repeated headers and body', async () => {
    await serve((_, res) => {
      res.setHeader('x-early', '1');
      res.writeHead(202, 'Taken In', { 'set-cookie': ['a=1', 'b=2'] });
      res.write('one ');
      res.write(Buffer.from('two '), () => res.end('three'));
    });
    const wire = await deliver();
    await wire.end();
    expect(wire.text).toMatch(/^HTTP\/1.1 202 Taken In\r\n/);
    for (const line of ['x-early: 1', 'set-cookie: a=1', 'set-cookie: b=2', 'one ', 'two ', 'three']) {
      expect(wire.text).toContain(line);
    }
    expect(record.calls.map((call) => call.split(' ')[0])).toEqual(['claim', 'done']);
  });

  test('a large stream, whole and in order, written no faster than it is read', async () => {
    let most = 0;
    await serve((_, res) => {
      async function* watched(): AsyncGenerator<Buffer> {
        for await (const one of chunks(2000)) {
          yield one;
          most = Math.max(most, res.writableLength);
        }
      }
      Readable.from(watched()).pipe(res);
    });
    const answer = await send(running.port, await signed());
    expect(answer.bytes.equals(Buffer.alloc(2000 * chunk.length, 'x'))).toBe(true);
    expect(most).toBeLessThan(1_000_000);
  });

  test('a source is asked to pause while the event is being settled', async () => {
    holdSettling();
    let read = 0;
    await serve((_, res) => {
      const source = new Readable({
        read() {
          read++;
          this.push(read > 500 ? null : chunk);
        },
      });
      source.pipe(res);
    });
    const answer = send(running.port, await signed());
    await until(() => settle !== undefined);
    await send(running.port, {});
    expect(read).toBeLessThan(50);
    settle?.();
    expect((await answer).bytes.length).toBe(500 * chunk.length);
  });

  test('to the app the held response looks sent', async () => {
    const seen: unknown[] = [];
    await serve((_, res) => {
      seen.push(res.headersSent, res.writableEnded);
      res.end('ok');
      seen.push(res.headersSent, res.writableEnded);
      try {
        res.setHeader('x-late', '1');
      } catch (error) {
        seen.push((error as { code?: string }).code);
      }
    });
    const answer = await send(running.port, await signed());
    expect(answer).toMatchObject({ status: 200, text: 'ok' });
    expect(answer.headers['x-late']).toBeUndefined();
    expect(seen).toEqual([false, false, true, true, 'ERR_HTTP_HEADERS_SENT']);
  });

  test('what Node refuses is refused in the app’s own call', async () => {
    const seen: unknown[] = [];
    await serve((_, res) => {
      const tries = [() => res.writeHead(42), () => res.write(7 as never), () => res.end({} as never)];
      for (const one of tries) {
        try {
          one();
        } catch (error) {
          seen.push((error as { code?: string }).code);
        }
      }
      res.statusCode = 500;
      res.end('sorry');
    });
    expect(await send(running.port, await signed())).toMatchObject({ status: 500, text: 'sorry' });
    expect(seen).toEqual(['ERR_HTTP_INVALID_STATUS_CODE', 'ERR_INVALID_ARG_TYPE', 'ERR_INVALID_ARG_TYPE']);
  });

  test('a header that HTTP does not allow closes the connection with a warning, and the process goes on', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    await serve((_, res) => res.writeHead(200, { 'x-broken': 'a\nb' }).end('ok'));
    const { body, signature } = await signed();
    await expect(send(running.port, { body, signature })).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(warn).toHaveBeenCalledWith(expect.objectContaining({ code: 'ERR_INVALID_CHAR' }));
    expect(await send(running.port, {})).toMatchObject({ status: 401 });
    warn.mockRestore();
  });
});

describe('the route’s end settles the event', () => {
  test.each([200, 201, 204, 299])('%d: done, and a repeat does not reach the route', async (status) => {
    let runs = 0;
    await serve((_, res) => {
      runs++;
      res.writeHead(status).end();
    });
    const delivery = await signed();
    expect(await send(running.port, delivery)).toMatchObject({ status });
    expect(await send(running.port, delivery)).toMatchObject({ status: 200, text: '{"code":"repeat"}' });
    expect(runs).toBe(1);
  });

  test.each([302, 400, 404, 500, 503])('%d: freed, and the retry reaches the route', async (status) => {
    let runs = 0;
    await serve((_, res) => {
      runs++;
      res.writeHead(runs === 1 ? status : 200).end('own');
    });
    const delivery = await signed();
    expect(await send(running.port, delivery)).toMatchObject({ status, text: 'own' });
    expect(await send(running.port, delivery)).toMatchObject({ status: 200, text: 'own' });
  });

  test('a status without a byte is no answer yet', async () => {
    await serve((_, res) => {
      res.writeHead(200);
      res.destroy();
    });
    const { id, body, signature } = await signed();
    await expect(send(running.port, { body, signature })).rejects.toThrow();
    await until(() => record.calls.includes(`release ${id}`));
    expect(record.calls).not.toContain(`done ${id}`);
  });

  /** What a route may do when its sender has long gone, and whether that counts as handled. */
  const late: [string, Route, 'done' | 'release'][] = [
    ['end with 200', (_, res) => res.writeHead(200).end('too late'), 'done'],
    ['end with 500', (_, res) => res.writeHead(500).end('too late'), 'release'],
    ['pipe', (_, res) => Readable.from(chunks(100)).pipe(res), 'done'],
    ['pipeline', (_, res) => pipeline(chunks(100), res, () => {}), 'done'],
    ['answer only if `destroyed` says so', (_, res) => !res.destroyed && !res.closed && res.end('still here'), 'done'],
    ['destroy', (_, res) => res.destroy(), 'release'],
  ];

  test.each(late)('a sender that leaves changes nothing: %s', async (_name, route, call) => {
    let answer: (() => unknown) | undefined;
    let left = false;
    const closes: string[] = [];
    await serve((req, res) => {
      req.socket.once('close', () => {
        left = true;
      });
      res.once('close', () => closes.push(`destroyed: ${res.destroyed}, closed: ${res.closed}`));
      answer = () => route(req, res);
    });
    const wire = await deliver('evt_left');
    await until(() => answer !== undefined);
    wire.socket.destroy();
    await until(() => left);
    expect(await send(running.port, await signed('evt_left'))).toMatchObject({ text: '{"code":"in_progress"}' });
    expect([record.calls, closes]).toEqual([['claim evt_left', 'claim evt_left'], []]);
    answer?.();
    await until(() => record.calls.includes(`${call} evt_left`));
    await until(() => closes.length > 0);
    expect(closes).toEqual(['destroyed: true, closed: true']);
    expect(await send(running.port, {})).toMatchObject({ status: 401 });
  });

  test('a sender that left before the route began changes nothing either', async () => {
    let claim: (() => void) | undefined;
    let left = false;
    const { store } = record.options;
    const waiting: Store = {
      async claim(id, options) {
        await new Promise<void>((resolve) => {
          claim = resolve;
        });
        return (store as Store).claim(id, options);
      },
    };
    record = { ...record, options: { ...record.options, store: waiting } };
    await serve(
      (_, res) => pipeline(chunks(2), res, () => {}),
      (req) =>
        req.socket.once('close', () => {
          left = true;
        }),
    );
    const wire = await deliver('evt_early');
    await until(() => claim !== undefined);
    wire.socket.destroy();
    await until(() => left);
    claim?.();
    await until(() => record.calls.includes('done evt_early'));
  });

  test('a route that destroys its response frees the event at once', async () => {
    let res: ServerResponse | undefined;
    await serve((_, given) => {
      res = given;
    });
    const wire = await deliver('evt_destroyed');
    await until(() => res !== undefined);
    expect(res?.destroy()).toBe(res);
    expect(res?.destroyed).toBe(true);
    await until(() => record.calls.includes('release evt_destroyed'));
    expect(record.outcomes[0]).toMatchObject({ code: 'handler_failed', error: { code: 'route_closed' } });
    await wire.end();
  });

  test('a route that never answers is replaced by 503 at the handler’s limit', async () => {
    record = { ...record, options: { ...record.options, handlerLimitSeconds: 1 } };
    let late: ServerResponse | undefined;
    await serve((_, res) => {
      late = res;
    });
    const answer = await send(running.port, await signed());
    expect(answer).toMatchObject({ status: 503, text: '{"code":"deadline_exceeded"}' });
    // What it writes after all reaches nobody.
    late?.writeHead(200).end('too late');
    expect(await send(running.port, {})).toMatchObject({ status: 401 });
  });

  test('a route that throws in the same turn is answered 500', async () => {
    await serve(() => {
      throw new Error('no such ledger');
    });
    expect(await send(running.port, await signed())).toMatchObject({ status: 500, text: '{"code":"handler_failed"}' });
  });
});

describe('a commit that fails', () => {
  test('the app’s response is thrown away with its headers, and 503 goes out', async () => {
    failCommit();
    await serve(
      (_, res) => {
        res.statusMessage = 'Made';
        res.writeHead(201, { 'x-own': '1', 'content-length': 4 }).end('made');
      },
      (_, res) => res.setHeader('x-before', '1'),
    );
    const answer = await send(running.port, await signed());
    expect(answer).toMatchObject({ status: 503, reason: 'Service Unavailable', text: '{"code":"commit_failed"}' });
    expect(answer.headers).toMatchObject({
      'x-before': '1',
      'content-type': 'application/json',
      'content-length': '24',
    });
    expect(answer.headers['x-own']).toBeUndefined();
  });

  test('a stream that is still being written comes to an end', async () => {
    failCommit();
    let ended: string | undefined;
    await serve((_, res) => {
      pipeline(chunks(500), res, (error) => {
        ended = String(error?.message);
      });
    });
    expect(await send(running.port, await signed())).toMatchObject({ status: 503, text: '{"code":"commit_failed"}' });
    await until(() => ended !== undefined);
  });
});

test('the connection carries the next delivery', async () => {
  await serve((_, res) => res.end('ok'));
  const wire = new Wire(running.port);
  for (const id of ['evt_one', 'evt_two']) {
    const { body, signature } = await signed(id);
    wire.write(head({ 'content-length': body.length, 'factuarea-signature': signature }), body);
    await until(() => record.calls.includes(`done ${id}`));
  }
  await until(() => wire.text.split('HTTP/1.1 200 OK').length === 3);
  wire.socket.destroy();
});

test('a middleware that comes later and wraps the response keeps its place', async () => {
  await serve((_, res) => {
    const end = res.end;
    res.end = function wrapped(this: ServerResponse, text: string) {
      this.setHeader('x-wrapped', '1');
      return end.call(this, `<${text}>`, 'utf8');
    } as typeof res.end;
    res.end('ok');
  });
  const answer = await send(running.port, await signed());
  expect(answer).toMatchObject({ status: 200, text: '<ok>' });
  expect(answer.headers).toMatchObject({ 'x-wrapped': '1' });
});

test('a head that is written again, as late-header middleware does, counts once', async () => {
  await serve((_, res) => {
    res.writeHead(201, { 'x-own': '1' });
    res.writeHead(res.statusCode);
    res.end('ok');
  });
  const answer = await send(running.port, await signed());
  expect(answer).toMatchObject({ status: 201, text: 'ok' });
  expect(answer.headers).toMatchObject({ 'x-own': '1' });
});

test('the context is on the request', async () => {
  const contexts: Context[] = [];
  await serve((req, res) => {
    if (req.factuarea) contexts.push(req.factuarea);
    res.end();
  });
  await send(running.port, { ...(await signed('evt_context')), headers: { 'factuarea-delivery-id': 'dlv_1' } });
  expect(contexts).toMatchObject([{ event: { id: 'evt_context' }, delivery: { id: 'dlv_1' }, fence: 1 }]);
});

test('a claim that cannot be had never reaches the route', async () => {
  const store = memoryStore();
  const claim = (await store.claim('evt_busy', { leaseMs: 5000, retentionMs: 1000 })) as OwnClaim;
  record = { ...record, options: { ...record.options, store } };
  let runs = 0;
  await serve((_, res) => {
    runs++;
    res.end();
  });
  const delivery = await signed('evt_busy');
  const busy = await send(running.port, delivery);
  expect(busy).toMatchObject({ status: 503, text: '{"code":"in_progress"}' });
  expect(Number(busy.headers['retry-after'])).toBeGreaterThan(0);
  expect(runs).toBe(0);
  await claim.release();
  expect(await send(running.port, delivery)).toMatchObject({ status: 200 });
});
