import http from 'node:http';
import https from 'node:https';
import type { Receiver, Route } from '@factuarea-webhook/core';

/** One request of the sender. */
export interface SentRequest {
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Aborts when the sender's time limit is reached. */
  readonly signal: AbortSignal;
}

/** What came back. */
export interface ReceivedAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Carries one request to a receiver and gives its answer; rejects where there is none. */
export type Transport = (request: SentRequest) => Promise<ReceivedAnswer>;

/** A transport over sockets, whose connections can be closed. */
export interface SocketTransport extends Transport {
  /** Closes the connections that are kept open between requests. */
  close(): void;
}

// Far more than an answer has any need of; what a receiver sends beyond it is dropped, as in the delivery history.
const MOST_ANSWER_BYTES = 65_536;

/**
 * Sends over HTTP or HTTPS and follows no redirect. Each request has a connection of its own, unless `keepAlive` is set:
 * that is faster, but a request on a kept connection that the receiver closes at that moment gets no answer.
 *
 * @example
 * ```ts
 * const transport = socketTransport({ keepAlive: true });
 * const sender = new FactuareaSender({ endpoints, transport });
 * // …
 * transport.close();
 * ```
 */
export function socketTransport({ keepAlive = false }: { readonly keepAlive?: boolean } = {}): SocketTransport {
  const agents = { http: new http.Agent({ keepAlive }), https: new https.Agent({ keepAlive }) };
  const send: Transport = (request) => sendOnce(request, agents);
  return Object.assign(send, {
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  });
}

function sendOnce(
  { url, headers, body, signal }: SentRequest,
  agents: { http: http.Agent; https: https.Agent },
): Promise<ReceivedAnswer> {
  const target = new URL(url);
  const [protocol, agent] = target.protocol === 'https:' ? [https, agents.https] : [http, agents.http];
  return new Promise((resolve, reject) => {
    const request = protocol.request(target, {
      method: 'POST',
      headers: { ...headers, 'content-length': body.byteLength },
      agent,
      signal,
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const parts: Buffer[] = [];
      let size = 0;
      response.on('data', (part: Buffer) => {
        if (size < MOST_ANSWER_BYTES) parts.push(part);
        size += part.length;
      });
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode = 0, headers: answered } = response;
        resolve({ status: statusCode, headers: flat(answered), body: text(Buffer.concat(parts)) });
      });
    });
    request.end(body);
  });
}

/**
 * Hands deliveries to a receiver of this process, without sockets. `route` makes it the middleware form.
 *
 * @example
 * ```ts
 * const receiver = createReceiver({ secret, handler });
 * const sender = new FactuareaSender({ endpoints, transport: receiverTransport(receiver) });
 * ```
 */
export function receiverTransport<Tx>(receiver: Receiver<Tx>, route?: Route<Tx>): Transport {
  return async ({ headers, body, signal }) => {
    const incoming = {
      method: 'POST',
      header: (name: string) => ({ ...headers, 'content-length': String(body.byteLength) })[name],
      body: async () => body,
    };
    const answer = await abortable(receiver.receive(incoming, route), signal);
    return { status: answer.status, headers: answer.headers, body: answer.body ?? '' };
  };
}

/**
 * Hands deliveries to a Fetch handler, `Request → Response`, without sockets: those of Hono, Next, Bun, Deno, Workers.
 *
 * @example
 * ```ts
 * const sender = new FactuareaSender({ endpoints, transport: fetchTransport((request) => app.fetch(request)) });
 * ```
 */
export function fetchTransport(handle: (request: Request) => Response | Promise<Response>): Transport {
  return async ({ url, headers, body, signal }) => {
    const request = new Request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': String(body.byteLength) },
      body: body as Uint8Array<ArrayBuffer>,
      signal,
    });
    const response = await abortable((async () => handle(request))(), signal);
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: text(Buffer.from(await abortable(response.arrayBuffer(), signal))),
    };
  };
}

function abortable<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function flat(headers: http.IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

function text(body: Buffer): string {
  return body.subarray(0, MOST_ANSWER_BYTES).toString('utf8');
}
