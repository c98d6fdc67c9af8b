import { createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import type { Claim, Logger, Outcome, ReceiverOptions, Store } from '@factuarea-webhook/core';
import { memoryStore, signDelivery } from '@factuarea-webhook/core';
import { jest } from '@jest/globals';

// Longer than `until` waits, so that on a busy machine it is `until` that says what did not come.
jest.setTimeout(20_000);

export const SECRET = 'whsec_7Qm2Zr9tLk4XvB1nAe6H';
/** 2026-01-01T00:00:00Z: the clock that the fixed signatures were made for. */
export const NOW = 1767225600;

export interface Running {
  readonly server: Server;
  readonly port: number;
  close(): Promise<void>;
}

export async function start(listener: RequestListener): Promise<Running> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    server,
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export interface Reply {
  readonly status: number;
  readonly reason: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly bytes: Buffer;
}

export interface Sending {
  readonly path?: string;
  readonly method?: string;
  readonly body?: string | Uint8Array;
  readonly signature?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends one request with a declared length, as Factuarea does. */
export function send(
  port: number,
  { path = '/', method = 'POST', body = '', signature, headers }: Sending,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body as string);
    const sending = request({ host: '127.0.0.1', port, path, method, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const whole = Buffer.concat(chunks);
        resolve({
          status: answer.statusCode ?? 0,
          reason: answer.statusMessage,
          headers: answer.headers,
          text: whole.toString(),
          bytes: whole,
        });
      });
    });
    sending.on('error', reject);
    sending.setHeader('content-type', 'application/json');
    if (method === 'POST' || bytes.length > 0) sending.setHeader('content-length', bytes.length);
    if (signature !== undefined) sending.setHeader('factuarea-signature', signature);
    for (const [name, value] of Object.entries(headers ?? {})) sending.setHeader(name, value);
    sending.end(bytes);
  });
}

let made = 0;

export interface Signed {
  readonly id: string;
  readonly body: string;
  readonly signature: string;
}

/** An event of its own, signed for the tests' clock. */
export async function signed(id = `evt_${process.pid}_${++made}`, more: object = {}): Promise<Signed> {
  const body = JSON.stringify({ id, type: 'invoice.sent', data: { invoice: { id: 'inv_1' } }, ...more });
  return { id, body, signature: await signDelivery({ body, secret: SECRET, timestamp: NOW }) };
}

/** The head of a request, for a socket. */
export function head(headers: Readonly<Record<string, string | number>>, path = '/', method = 'POST'): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`;
}

/** A connection whose bytes are written by hand. */
export class Wire {
  readonly socket: net.Socket;
  text = '';
  closed = false;

  constructor(port: number) {
    this.socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.on('data', (chunk: Buffer) => {
      this.text += chunk.toString('latin1');
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.closed = true;
    });
  }

  write(...parts: (string | Uint8Array)[]): this {
    for (const part of parts) this.socket.write(part);
    return this;
  }

  /** Waits for text to have come; gives all that has come so far. */
  async has(pattern: RegExp | string): Promise<string> {
    await until(() => (typeof pattern === 'string' ? this.text.includes(pattern) : pattern.test(this.text)));
    return this.text;
  }

  async end(): Promise<void> {
    await until(() => this.closed);
  }
}

/** Waits for a condition; fails after eight seconds. */
export async function until(condition: () => boolean, ms = 8000): Promise<void> {
  const end = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`Waited ${ms} ms for: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export interface Recorder {
  readonly options: Pick<ReceiverOptions, 'secret' | 'nowSeconds' | 'store' | 'onOutcome' | 'logger'> & {
    readonly handlerLimitSeconds?: number;
  };
  readonly outcomes: Outcome[];
  /** Every call to the store: `claim evt_1`, `done evt_1`, `release evt_1`. */
  readonly calls: string[];
  readonly logs: string[];
}

/** Options for one receiver that write down what it does, on a memory store. */
export function recorder(wrap: (claim: Claim) => Claim = (claim) => claim): Recorder {
  const outcomes: Outcome[] = [];
  const calls: string[] = [];
  const logs: string[] = [];
  const inner = memoryStore();
  const store: Store = {
    async claim(id, options) {
      calls.push(`claim ${id}`);
      const claim = wrap(await inner.claim(id, options));
      if (claim.state !== 'mine') return claim;
      return {
        ...claim,
        done() {
          calls.push(`done ${id}`);
          return claim.done();
        },
        release() {
          calls.push(`release ${id}`);
          return claim.release();
        },
      };
    },
  };
  const log = (fields: object, message: string): void => {
    const { err } = fields as { err?: Error };
    logs.push(`${message} ${err?.message ?? ''}`);
  };
  const logger: Logger = { info() {}, warn: log, error: log };
  const onOutcome = (outcome: Outcome): void => {
    outcomes.push(outcome);
  };
  return { options: { secret: SECRET, nowSeconds: () => NOW, store, onOutcome, logger }, outcomes, calls, logs };
}
