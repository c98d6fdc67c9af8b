import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver, FactuareaWebhookError, type Incoming, type Outgoing } from '@factuarea-webhook/core';
import {
  type ContractConfig,
  contractApp,
  type RouteAnswer,
  writeAnswer,
} from '@factuarea-webhook/testing/contract-app';

/** Mistakes that adapters are known for. */
export interface Mistakes {
  /** Changes the bytes. */
  readonly body?: (bytes: Buffer) => Buffer;
  /** Reads the body as text, piece by piece. */
  readonly asText?: true;
  /** Reads as much as is sent. */
  readonly noLimit?: true;
  /** Reads the body before anything else. */
  readonly readFirst?: true;
  /** Adds to what the receiver answers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Lets the route's answer out as soon as it is known. */
  readonly unheld?: true;
  /** Takes the sender's leaving for the end of the route. */
  readonly hangsUp?: true;
}

/** The core with nothing but a thin shim over `node:http`: what every adapter is compared with. */
export async function startBare(
  config: ContractConfig,
  mistakes: Mistakes = {},
): Promise<{ url: string; close(): Promise<void> }> {
  const app = contractApp(config);
  const handler = createReceiver(app.handlerOptions);
  const middleware = createReceiver(app.middlewareOptions);
  const server = createServer(async (request, response) => {
    if (request.url === '/contract/state') return response.end(JSON.stringify(app.state()));
    const early =
      mistakes.readFirst && (await read(request, Number.POSITIVE_INFINITY, mistakes).catch(() => undefined));
    const incoming: Incoming = {
      method: request.method ?? '',
      header: (name) => request.headers[name],
      body: async (limit) => early || read(request, limit, mistakes),
    };
    if (request.url === '/parsed') for await (const _ of request);
    if (request.url !== '/middleware') return write(response, await handler.receive(incoming), mistakes);
    let own: RouteAnswer | undefined;
    const outgoing = await middleware.receive(incoming, async (_, context) => {
      const gone = new Promise<never>((_, reject) => {
        if (mistakes.hangsUp) response.once('close', () => reject(new Error('The connection was closed.')));
      });
      own = await Promise.race([app.route(context), gone]);
      if (own.close) throw new FactuareaWebhookError('route_closed', 'The route closed the connection.');
      if (mistakes.unheld) writeAnswer(response, own);
      return own.status;
    });
    if (mistakes.unheld) return;
    if (own && (outgoing.body === null || own.close)) return writeAnswer(response, own);
    return write(response, outgoing, mistakes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function read(request: IncomingMessage, limit: number, { body, asText, noLimit }: Mistakes): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const fail = (code: 'body_too_large' | 'body_incomplete' | 'body_unavailable'): void =>
      reject(new FactuareaWebhookError(code, `The shim met ${code}.`));
    if (request.readableEnded) return fail('body_unavailable');
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit && !noLimit) fail('body_too_large');
      else chunks.push(asText ? Buffer.from(chunk.toString('utf8')) : chunk);
    });
    request.on('end', () => resolve(body ? body(Buffer.concat(chunks)) : Buffer.concat(chunks)));
    request.on('error', () => fail('body_incomplete'));
    request.on('close', () => fail('body_incomplete'));
  });
}

function write(response: ServerResponse, { status, headers, body }: Outgoing, mistakes: Mistakes): void {
  response.writeHead(status, { ...headers, ...mistakes.headers }).end(body);
}
