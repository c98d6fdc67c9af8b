import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { signDelivery } from '@factuarea-webhook/core';
import { uuidV7 } from '@factuarea-webhook/testing';
import { type Arrival, type Capture, capture } from './capture.ts';
import { forward, pairs } from './forward.ts';
import { type Guard, makeGuard } from './guard.ts';
import { type History, makeHistory } from './history.ts';

export interface ListenOptions {
  readonly secrets: readonly string[];
  readonly toleranceSeconds: number;
  readonly forwardTo: URL | undefined;
  /** How long the developer's app is waited for. */
  readonly timeoutSeconds: number;
  /** The address that is listened on. */
  readonly host: string;
  /** The files of the page, by path. */
  readonly files: Readonly<Record<string, PageFile>>;
}

export interface PageFile {
  readonly type: string;
  readonly text: string;
}

export interface Listener {
  readonly server: Server;
  readonly history: History;
  /** Behind the page's `#`. */
  readonly key: string;
}

const BODY_LIMIT = 10 * 1024 * 1024;

/** Makes the local receiver: deliveries at every path by POST, the live page at `/`. */
export function makeListener(options: ListenOptions): Listener {
  const guard = makeGuard(options.host);
  const history = makeHistory();
  const server = createServer((request, response) => {
    route(request, response, { options, guard, history }).catch(() => {
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  return { server, history, key: guard.key };
}

interface Scope {
  readonly options: ListenOptions;
  readonly guard: Guard;
  readonly history: History;
}

async function route(request: IncomingMessage, response: ServerResponse, scope: Scope): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (request.method === 'POST') {
    return pathname === '/_listen/resend' ? resend(request, response, scope) : take(request, response, scope);
  }
  if (request.method !== 'GET') return refuse(response, 405, 'Deliveries come by POST.', { allow: 'GET, POST' });
  if (pathname === '/_listen/events') return watch(request, response, searchParams.get('key'), scope);
  const file = Object.hasOwn(scope.options.files, pathname) ? scope.options.files[pathname] : undefined;
  const refused = scope.guard.refusesPage(request);
  if (refused) return refuse(response, 403, refused);
  if (!file) return refuse(response, 404, 'There is nothing here. Deliveries come by POST, to any path.');
  response.writeHead(200, { ...pageHeaders, 'content-type': file.type }).end(file.text);
}

const pageHeaders = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

function refuse(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { ...headers, 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}

/** Takes a delivery: captures it, asks the developer's app, answers. */
async function take(request: IncomingMessage, response: ServerResponse, scope: Scope): Promise<void> {
  const startedAt = performance.now();
  const body = await read(request);
  if (!body) return refuse(response, 413, `The body is over ${BODY_LIMIT} bytes.`, { connection: 'close' });
  const { status, text, headers } = await answerTo(
    {
      path: request.url ?? '/',
      headers: pairs(request.rawHeaders),
      body,
      readMs: Math.round(performance.now() - startedAt),
      resendOf: undefined,
    },
    scope,
  );
  response.writeHead(status, headers).end(text);
}

interface Given {
  readonly status: number;
  readonly text: string;
  readonly headers: Record<string, string>;
}

async function answerTo(arrival: Arrival, { options, history }: Scope): Promise<Given & { readonly number: number }> {
  const startedAt = performance.now();
  const first = capture(arrival, history.nextNumber(), history.captures, options);
  history.put(first, arrival);
  const forwarded = options.forwardTo && (await forward(options.forwardTo, arrival, options.timeoutSeconds * 1000));
  const given = answerOf(first, forwarded);
  const answer = { status: given.status, ms: Math.round(performance.now() - startedAt) };
  history.put({ ...first, forwarded, answer }, arrival);
  return { ...given, number: first.number };
}

/** The app's own answer where there is one, so that the sender sees what it would see without the listener. */
function answerOf({ verdict }: Capture, forwarded: Capture['forwarded']): Given {
  const json = { 'content-type': 'application/json' };
  if (!forwarded) {
    const [status, code] = verdict === 'bad' ? [401, 'invalid_signature'] : [200, 'captured'];
    return { status, text: JSON.stringify({ code }), headers: json };
  }
  if (forwarded.status === undefined)
    return { status: 502, text: JSON.stringify({ code: 'no_answer' }), headers: json };
  const kept = forwarded.headers.filter(([name]) => /^(content-type|retry-after)$/i.test(name));
  const bodyless = forwarded.status === 204 || forwarded.status === 304;
  return { status: forwarded.status, text: bodyless ? '' : forwarded.body, headers: Object.fromEntries(kept) };
}

/** Sends a captured delivery again, newly signed, as a replay does: the same event, another delivery. */
async function resend(request: IncomingMessage, response: ServerResponse, scope: Scope): Promise<void> {
  const refused = scope.guard.refusesChange(request);
  if (refused) return refuse(response, 403, refused, { connection: 'close' });
  const { number } = JSON.parse((await read(request))?.toString('utf8') || '{}') as { number?: number };
  const original = scope.history.arrivalOf(Number(number));
  if (!original) return refuse(response, 404, 'That delivery is no longer kept.');
  const { secrets } = scope.options;
  if (secrets.length === 0) return refuse(response, 409, 'There is no secret to sign with. Start with --secret.');
  const fitting = scope.history.captures.find((one) => one.number === number)?.secret ?? 1;
  const secret = secrets[fitting - 1] as string;
  const kept = original.headers.filter(([name]) => !/^factuarea-(signature|delivery-id)$/i.test(name));
  const signature = await signDelivery({ body: original.body, secret });
  const { status, number: copy } = await answerTo(
    {
      ...original,
      headers: [...kept, ['Factuarea-Signature', signature], ['Factuarea-Delivery-Id', uuidV7()]],
      readMs: 0,
      resendOf: Number(number),
    },
    scope,
  );
  response
    .writeHead(200, { ...pageHeaders, 'content-type': 'application/json' })
    .end(JSON.stringify({ number: copy, status }));
}

/** Tells the page about every capture, those that are there and those to come. */
function watch(request: IncomingMessage, response: ServerResponse, key: string | null, scope: Scope): void {
  const refused = scope.guard.refusesData(request, key);
  if (refused) {
    refuse(response, 403, refused);
    return;
  }
  response.writeHead(200, { ...pageHeaders, 'content-type': 'text/event-stream' });
  const tell = (one: Capture): boolean => response.write(`data: ${JSON.stringify(one)}\n\n`);
  const { forwardTo, secrets } = scope.options;
  const setup = { forwardTo: forwardTo?.href, canSign: secrets.length > 0 };
  response.write(`retry: 1000\nevent: setup\ndata: ${JSON.stringify(setup)}\n\n`);
  for (const one of scope.history.captures) tell(one);
  const stop = scope.history.watch(tell);
  const beat = setInterval(() => response.write(': still here\n\n'), 20_000);
  response.on('close', () => {
    clearInterval(beat);
    stop();
  });
}

/** Reads a body; undefined when it is over the limit. */
async function read(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > BODY_LIMIT) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}
