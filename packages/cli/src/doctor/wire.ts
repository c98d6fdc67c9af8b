import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../exit.ts';

/** One request, with its bytes as they are to go over the wire. */
export interface WireRequest {
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, in the pieces in which it is written. */
  readonly pieces: readonly Uint8Array[];
  /** Waited before each piece but the first. */
  readonly pauseMs?: number;
  /** The last piece waits for this, so that several requests can be completed at the same moment. */
  readonly hold?: Promise<void>;
  /** Leaves `Content-Length` out, so that the body goes chunked. */
  readonly chunked?: boolean;
  /** Cuts the connection once the pieces are written. */
  readonly cut?: boolean;
  /** Uses a connection that is kept open between requests. */
  readonly connection?: Connection;
}

/** What came back. */
export interface Reply {
  /** Undefined when no answer came. */
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The beginning of the body. */
  readonly body: string;
  readonly ms: number;
  /** Why no answer came. */
  readonly error?: string;
}

/** A connection that several requests share. */
export interface Connection {
  readonly agent: HttpAgent | HttpsAgent;
  close(): void;
}

const MOST = 64 * 1024;

export function keptConnection(url: URL): Connection {
  const options = { keepAlive: true, maxSockets: 1 };
  const agent = url.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options);
  return { agent, close: () => agent.destroy() };
}

/** Sends one request. Never rejects: no answer is a reply too. */
export function send(url: URL, given: WireRequest, timeoutMs: number): Promise<Reply> {
  let startedAt = performance.now();
  const since = (): number => Math.round(performance.now() - startedAt);
  return new Promise((resolve) => {
    const none = (error: string): void => resolve({ status: undefined, headers: {}, body: '', ms: since(), error });
    const length = given.pieces.reduce((sum, piece) => sum + piece.length, 0);
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      method: given.method ?? 'POST',
      headers: { ...(given.chunked ? {} : { 'content-length': String(length) }), ...given.headers },
      // A fresh connection per request, so that one check cannot spoil the next one's.
      agent: given.connection?.agent ?? false,
    });
    const timer = setTimeout(() => {
      none(`no answer within ${timeoutMs / 1000} s`);
      request.destroy();
    }, timeoutMs);
    request.on('error', (error) => {
      clearTimeout(timer);
      none(messageOf(error));
    });
    const closed = (): void => {
      clearTimeout(timer);
      none('the connection was closed');
    };
    request.on('close', closed);
    request.on('response', (response) => {
      request.off('close', closed);
      const done = (body: string): void => {
        clearTimeout(timer);
        resolve({ status: response.statusCode, headers: response.headers, body, ms: since() });
      };
      beginningOf(response).then(done, () => done(''));
    });
    // What counts is the time from the last byte sent: that is what the receiver has an influence on.
    const lastPiece = (): void => {
      startedAt = performance.now();
    };
    write(request, given, lastPiece).catch((error: unknown) => none(messageOf(error)));
  });
}

async function write(
  request: ReturnType<typeof httpRequest>,
  given: WireRequest,
  lastPiece: () => void,
): Promise<void> {
  if (given.headers['expect']) {
    request.flushHeaders();
    // As curl does: what is not told to go on within a second goes on.
    await Promise.race([new Promise((resolve) => request.once('continue', resolve)), pause(1000)]);
  }
  for (const [at, piece] of given.pieces.entries()) {
    if (at > 0 && given.pauseMs) await pause(given.pauseMs);
    if (given.hold && at === given.pieces.length - 1) await given.hold;
    if (request.destroyed) return;
    if (at === given.pieces.length - 1) lastPiece();
    await new Promise<void>((resolve) => request.write(piece, () => resolve()));
  }
  if (given.cut) request.destroy(new Error('cut on purpose'));
  else request.end();
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    if (size < MOST) chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
  }
  return Buffer.concat(chunks).subarray(0, MOST).toString('utf8');
}
