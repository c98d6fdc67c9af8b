import type { IncomingMessage, ServerResponse } from 'node:http';
import { FactuareaWebhookError } from '@factuarea-webhook/core';
import rawBody from 'raw-body';

/** What body parsers leave on a request. */
interface Parsed {
  readonly body?: unknown;
  readonly rawBody?: unknown;
}

/** Gives the request's bytes: those that another middleware kept, or the stream's. */
export async function readBody(
  req: IncomingMessage,
  res: ServerResponse | undefined,
  limit: number,
): Promise<Uint8Array> {
  // Another middleware may still be filling `rawBody` from the stream.
  if ((req as Parsed).rawBody !== undefined && req.readableFlowing && !req.readableEnded) await end(req);

  const kept = keptBytes(req);
  if (kept) {
    if (kept.byteLength > limit) throw tooLarge(limit);
    return kept;
  }
  if (req.destroyed && !req.readableEnded) throw incomplete('The sender went away in the middle of the body.');
  if (req.readableDidRead || req.readableEnded) throw unavailable(req);
  inviteBody(req, res);
  return readStream(req, limit);
}

/** Whether the sender waits for `100 Continue` and has not been told. */
export function awaitsContinue(req: IncomingMessage, res: ServerResponse | undefined): boolean {
  return (
    /^100-continue$/i.test(req.headers.expect ?? '') &&
    // Node says it by itself unless the server has a `checkContinue` listener, and tells which only in this field.
    (res as { _sent100?: boolean } | undefined)?._sent100 === false
  );
}

function inviteBody(req: IncomingMessage, res: ServerResponse | undefined): void {
  if (awaitsContinue(req, res)) res?.writeContinue();
}

function readStream(req: IncomingMessage, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    // raw-body 3.0.2 calls nobody back when a stream closes without `end`, `error` or `aborted`.
    const close = (): void => reject(incomplete('The connection closed before the body had ended.'));
    req.once('close', close);
    // raw-body takes its own listener away once it is done; an error after that must not end the process.
    req.on('error', () => {});
    rawBody(req, { limit }, (error, bytes) => {
      // Every request closes in the end, and an error that nobody gets to see cost a tenth of each.
      req.removeListener('close', close);
      if (!error) return resolve(bytes);
      if (error.type === 'entity.too.large') return reject(tooLarge(limit));
      if (error.type === 'stream.encoding.set' || error.type === 'stream.not.readable') return reject(unavailable(req));
      reject(incomplete('The body ended with an error.', error));
    });
  });
}

/** Bytes exactly as they arrived. A parsed body never stands in for them: written out again, it has other bytes. */
function keptBytes(req: IncomingMessage): Uint8Array | undefined {
  const { rawBody: kept } = req as Parsed;
  if (typeof kept === 'string' && kept !== '') return Buffer.from(kept);
  return [kept, readProperty(req as Parsed, 'body')].find((one): one is Uint8Array => one instanceof Uint8Array);
}

/** Some platforms put a getter here that parses the body, and throws where it cannot. */
function readProperty(req: Parsed, name: 'body'): unknown {
  try {
    return req[name];
  } catch {
    return undefined;
  }
}

function end(req: IncomingMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    req.once('end', resolve);
    req.once('close', () => reject(incomplete('The connection closed before the body had ended.')));
  });
}

const fix =
  'Mount the webhook before it, or let it keep the bytes: express.json({ verify: (req, _res, bytes) => { req.rawBody = bytes; } }).';

function unavailable(req: IncomingMessage): FactuareaWebhookError {
  return new FactuareaWebhookError('body_unavailable', `${culprit(req)} ${fix}`);
}

/** Who read the body, by what was left behind. */
function culprit(req: IncomingMessage): string {
  const body = readProperty(req as Parsed, 'body');
  const type = req.headers['content-type'] ?? '';
  if (typeof body === 'string') return 'A text parser such as express.text() has read the body into `req.body`.';
  if (typeof body === 'object' && body !== null) {
    return type.startsWith('application/x-www-form-urlencoded')
      ? 'A form parser such as express.urlencoded() has read the body into `req.body`.'
      : 'A JSON parser such as express.json() has read the body: `req.body` is a parsed object.';
  }
  if (req.readableEncoding) {
    return `Something called req.setEncoding('${req.readableEncoding}'), so the body’s exact bytes are gone.`;
  }
  return 'Something has read the request’s stream and kept no bytes.';
}

function tooLarge(limit: number): FactuareaWebhookError {
  return new FactuareaWebhookError('body_too_large', `The body is over \`bodyLimit\`, ${limit} bytes.`);
}

function incomplete(message: string, cause?: unknown): FactuareaWebhookError {
  return new FactuareaWebhookError('body_incomplete', message, cause === undefined ? {} : { cause });
}
