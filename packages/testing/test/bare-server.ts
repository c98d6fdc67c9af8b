import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver, FactuareaWebhookError, type Incoming, type Outgoing } from '@factuarea-webhook/core';
import {
  type ContractConfig,
  contractApp,
  type RouteAnswer,
  writeAnswer,
} from '@factuarea-webhook/testing/contract-app';

/** The core with nothing but a thin shim over `node:http`: what every adapter is compared with. */
export async function startBare(config: ContractConfig): Promise<{ url: string; close(): Promise<void> }> {
  const app = contractApp(config);
  const handler = createReceiver(app.handlerOptions);
  const middleware = createReceiver(app.middlewareOptions);
  const server = createServer(async (request, response) => {
    if (request.url === '/contract/state') return response.end(JSON.stringify(app.state()));
    if (request.url === '/middleware') {
      let own: RouteAnswer | undefined;
      const outgoing = await middleware.receive(toIncoming(request), async (_, context) => {
        const gone = new Promise<never>((_, reject) => {
          response.once('close', () => reject(new FactuareaWebhookError('route_closed', 'The connection was closed.')));
        });
        own = await Promise.race([app.route(context), gone]);
        if (own.close) throw new FactuareaWebhookError('route_closed', 'The route closed the connection.');
        return own.status;
      });
      if (own && (outgoing.body === null || own.close)) return writeAnswer(response, own);
      return write(response, outgoing);
    }
    if (request.url === '/parsed') for await (const _ of request);
    return write(response, await handler.receive(toIncoming(request)));
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

function toIncoming(request: IncomingMessage): Incoming {
  return {
    method: request.method ?? '',
    header: (name) => request.headers[name],
    body: (limit) => read(request, limit),
  };
}

function read(request: IncomingMessage, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const fail = (code: 'body_too_large' | 'body_incomplete' | 'body_unavailable'): void =>
      reject(new FactuareaWebhookError(code, `The shim met ${code}.`));
    if (request.readableEnded) return fail('body_unavailable');
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) fail('body_too_large');
      else chunks.push(chunk);
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', () => fail('body_incomplete'));
    request.on('close', () => fail('body_incomplete'));
  });
}

function write(response: ServerResponse, { status, headers, body }: Outgoing): void {
  response.writeHead(status, headers).end(body);
}
