import { type FactuareaEvent, PermanentFailure } from '@factuarea-webhook/core';

/** What the app's own route answers in the middleware form. To be written with the framework's own means. */
export interface RouteAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, or a stream of bytes that must be answered as a stream. */
  readonly body: string | AsyncIterable<Uint8Array>;
  /** Destroy the connection instead of answering, as a crashed route does. */
  readonly close: boolean;
}

/** The part of Node's `ServerResponse` that `writeAnswer` uses. */
export interface NodeResponse {
  readonly destroyed: boolean;
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  write(chunk: Uint8Array): boolean;
  end(text?: string): unknown;
  destroy(): unknown;
  on(event: 'drain' | 'close', listener: () => void): unknown;
}

/** The size of the answer of an event whose behaviour is `stream`. */
export const STREAM_CHUNKS = 40;
export const STREAM_CHUNK_BYTES = 16_384;
/** So many copies an event whose behaviour is `copied` waits for: by the second, the first sender's leaving is known. */
export const COPIES = 2;
const COPIED_MS = 5000;

/** Writes a route's answer to Node's `ServerResponse`, as Express and Next's Pages Router have it. */
export async function writeAnswer(response: NodeResponse, answer: RouteAnswer): Promise<void> {
  if (answer.close) {
    response.destroy();
    return;
  }
  response.statusCode = answer.status;
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value);
  if (typeof answer.body === 'string') {
    response.end(answer.body);
    return;
  }
  let wake = (): void => {};
  response.on('drain', () => wake());
  response.on('close', () => wake());
  for await (const chunk of answer.body) {
    const drained = new Promise<void>((resolve) => {
      wake = resolve;
    });
    if (response.destroyed) return;
    if (!response.write(chunk)) await drained;
  }
  response.end();
}

/** What the event asks of its handler: one behaviour per run, the last of them for all further ones. */
export function steering(event: FactuareaEvent): { behave: readonly string[]; note: unknown } {
  const { object } = event.data as { object?: { metadata?: { behave?: string[] }; note?: unknown } };
  return { behave: object?.metadata?.behave ?? [], note: object?.note };
}

/** What a behaviour may need of the app that it is asked for in. */
export interface Surroundings {
  readonly loseSecret: () => void;
  /** How many copies of the event have been answered `in_progress`. */
  readonly copies: () => number;
}

/** Does what the word asks for. */
export async function behave(behaviour: string, { loseSecret, copies }: Surroundings): Promise<void> {
  const [name, value] = behaviour.split(':');
  if (name === 'copied') {
    // Not for ever: where an adapter is wrong they never come.
    const end = performance.now() + COPIED_MS;
    while (copies() < COPIES && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
  }
  if (name === 'slow') return new Promise((resolve) => setTimeout(resolve, Number(value)));
  if (name === 'hang') return new Promise(() => {});
  if (name === 'lose_secret') return loseSecret();
  if (name === 'throw') throw new Error('The contract’s handler was told to fail.');
  if (name === 'throw_undefined') throw undefined;
  if (name === 'permanent') throw new PermanentFailure('The contract’s handler was told to give up.');
}

/** What the route answers after it has done what the word asks for. */
export function routeAnswer(behaviour: string): RouteAnswer {
  const [name, value] = behaviour.split(':');
  const status = Number(value) >= 100 && name !== 'slow' ? Number(value) : 200;
  const streams = name === 'stream' || value === 'stream';
  const headers = { 'x-app': 'contract', 'content-type': streams ? 'application/octet-stream' : 'text/plain' };
  const body = streams ? chunks() : status === 204 ? '' : `app:${status}`;
  return { status, headers, body, close: name === 'close' };
}

async function* chunks(): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < STREAM_CHUNKS; i++) {
    // Now and then a pause, so that the answer comes in several pieces and not at once.
    if (i % 16 === 1) await new Promise((resolve) => setTimeout(resolve, 5));
    yield new Uint8Array(STREAM_CHUNK_BYTES).fill(i);
  }
}

export function toStream(source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const iterator = source[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
  });
}
