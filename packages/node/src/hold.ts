import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { FactuareaWebhookError, type Outgoing } from '@factuarea-webhook/core';
import { type Method, overrides } from './overrides.ts';
import type { NodeResponse } from './types.ts';

/** An app's response, held before its first byte. */
export interface HeldResponse {
  /**
   * The status that the app answers with, once it begins to send, also where the sender has left by then. Rejects with
   * code `route_closed` where the app destroys its response before that.
   */
  readonly status: Promise<number>;
  /** Sends what the app has written so far, unchanged, and lets the rest through. */
  letGo(): void;
  /** Throws the app's response away, also what it still writes, and sends this one instead. */
  replace(outgoing: Outgoing): void;
}

/**
 * Holds a response, so that nothing which the app writes leaves before `letGo`: `writeHead`, `write`, `end`,
 * `flushHeaders` and whatever is piped are kept in order. `write` asks for a pause once as much is held as Node itself
 * would buffer. To the app the response looks as if it were being sent, and as if the sender were still there: `close`
 * is emitted once the response has been let go or replaced.
 *
 * @example
 * ```ts
 * const held = holdResponse(res);
 * next();
 * if ((await held.status) < 300) held.letGo();
 * else held.replace({ status: 503, headers: {}, body: '{}' });
 * ```
 */
export function holdResponse(response: NodeResponse): HeldResponse {
  const res = response as ServerResponse;
  const headersBefore = Object.entries(res.getHeaders());
  const methods = overrides(res);
  const calls: [name: string, args: unknown[]][] = [];
  const drainListeners: [name: string, listener: Method][] = [];
  let isReplaced = false;
  let hasHead = false;
  let hasEnded = false;
  let heldBytes = 0;
  let owesDrain = false;
  let hidesClose = true;
  let hasClosed = res.destroyed;
  let owesClose = false;

  let begin: (status: number) => void = () => {};
  let close: () => void = () => {};
  const status = new Promise<number>((resolve, reject) => {
    begin = resolve;
    close = () => reject(new FactuareaWebhookError('route_closed', 'The app’s route destroyed its response.'));
  });
  status.catch(() => {});

  const hasBegun = (): boolean => hasHead || calls.length > 0;

  function keep(name: string, args: unknown[]): void {
    calls.push([name, args]);
    begin(res.statusCode);
  }

  methods.set('writeHead', (args) => {
    // Middleware that adds headers late calls this again, for a response that it takes to be unsent: the first counts.
    if (isReplaced || hasHead) return res;
    // Node throws at once, in the app's own call.
    if (!isStatus(args[0])) return methods.call('writeHead', args);
    hasHead = true;
    res.statusCode = args[0];
    // Sends nothing yet, just as in Node: an app that fails between this and its first byte has not answered.
    calls.push(['writeHead', args]);
    return res;
  });
  methods.set('flushHeaders', (args) => {
    if (!isReplaced) keep('flushHeaders', args);
  });
  methods.set('write', (args) => {
    if (isReplaced) return swallow(args);
    if (!isChunk(args[0])) return methods.call('write', args);
    keep('write', args);
    heldBytes += Buffer.byteLength(args[0]);
    owesDrain ||= heldBytes >= res.writableHighWaterMark;
    return !owesDrain;
  });
  methods.set('end', (args) => {
    if (isReplaced) swallow(args);
    else if (args[0] && typeof args[0] !== 'function' && !isChunk(args[0])) return methods.call('end', args);
    else keep('end', args);
    hasEnded = true;
    return res;
  });
  for (const name of ['setHeader', 'setHeaders', 'appendHeader', 'removeHeader']) {
    methods.set(name, (args) => {
      if (isReplaced) return res;
      if (!hasBegun()) return methods.call(name, args);
      // Node's own code, which error handlers look for.
      throw Object.assign(new Error(`Cannot call ${name} after the response has begun.`), {
        code: 'ERR_HTTP_HEADERS_SENT',
      });
    });
  }
  methods.set('destroy', (args) => {
    hidesClose = false;
    close();
    return methods.call('destroy', args);
  });
  // What streams an answer gives up where it finds the sender gone, and the work behind it would not be recorded.
  if (hasClosed) setClosed(false);
  methods.set('emit', (args) => {
    if (!hidesClose || args[0] !== 'close') return methods.call('emit', args);
    hasClosed = true;
    owesClose = true;
    setClosed(false);
    return true;
  });
  for (const name of ['on', 'addListener']) {
    methods.set(name, (args) => {
      if (args[0] !== 'drain') return methods.call(name, args);
      // `compression` moves these to a stream of its own, which knows nothing of the pause that was asked for here.
      drainListeners.push([name, args[1] as Method]);
      return EventEmitter.prototype.on.call(res, 'drain', args[1] as Method);
    });
  }
  Object.defineProperty(res, 'headersSent', { get: hasBegun, configurable: true });
  Object.defineProperty(res, 'writableEnded', { get: () => hasEnded, configurable: true });

  function setClosed(closed: boolean): void {
    Object.assign(res, { destroyed: closed, _closed: closed });
  }

  function showRealState(): void {
    Reflect.deleteProperty(res, 'headersSent');
    Reflect.deleteProperty(res, 'writableEnded');
    hidesClose = false;
    if (hasClosed) setClosed(true);
  }

  function payDrain(): void {
    if (owesDrain) EventEmitter.prototype.emit.call(res, 'drain');
    owesDrain = false;
  }

  function payClose(): void {
    if (owesClose) methods.call('emit', ['close']);
  }

  function giveListenersBack(): void {
    for (const [name, listener] of drainListeners) {
      if (!res.rawListeners('drain').includes(listener)) continue;
      res.removeListener('drain', listener);
      methods.call(name, ['drain', listener]);
    }
  }

  return {
    status,
    letGo() {
      showRealState();
      methods.lift();
      let isFull = false;
      for (const [name, args] of calls) isFull = methods.call(name, args) === false;
      // Where the real buffer is full too, the real `drain` comes by itself.
      if (!isFull) payDrain();
      giveListenersBack();
      payClose();
    },
    replace({ status: code, headers, body }) {
      isReplaced = true;
      showRealState();
      if (res.statusMessage) res.statusMessage = '';
      const bytes = Buffer.from(body ?? '');
      methods.through(() => {
        for (const name of res.getHeaderNames()) methods.call('removeHeader', [name]);
        for (const [name, value] of headersBefore) methods.call('setHeader', [name, value]);
        methods.call('writeHead', [code, { ...headers, 'content-length': String(bytes.byteLength) }]);
        methods.call('end', [bytes]);
      });
      payDrain();
      payClose();
    },
  };
}

function isStatus(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 100 && Number(value) <= 999;
}

function isChunk(value: unknown): value is string | Uint8Array {
  return typeof value === 'string' || value instanceof Uint8Array;
}

/** Takes what nobody will read, so that whoever writes it comes to an end. */
function swallow(args: unknown[]): true {
  const done = args.find((one): one is () => void => typeof one === 'function');
  if (done) process.nextTick(done);
  return true;
}
