import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';

/** A Fetch-style server, as runtimes and adapters make one out of Node's. */
export interface FetchServer {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

export async function serve(handle: (request: Request) => Promise<Response>): Promise<FetchServer> {
  const server: Server = createServer(async (incoming, outgoing) => {
    const controller = new AbortController();
    outgoing.once('close', () => controller.abort());
    const response = await handle(toRequest(incoming, controller.signal));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.flushHeaders();
    if (response.body) for await (const chunk of response.body) outgoing.write(chunk);
    outgoing.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/webhook`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const method = incoming.method ?? 'GET';
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headersDistinct)) {
    for (const one of value ?? []) headers.append(name, one);
  }
  const body = method === 'GET' || method === 'HEAD' ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>);
  return new Request(`http://127.0.0.1${incoming.url}`, {
    method,
    headers,
    body,
    duplex: 'half',
    signal,
  } as RequestInit);
}

/** An HTTP request written by hand, so that it can be cut anywhere. */
export class RawClient {
  readonly socket: Socket;
  #text = '';

  constructor({ port }: FetchServer, headers: Record<string, string>) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('data', (chunk) => {
      this.#text += chunk;
    });
    this.socket.on('error', () => {});
    const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}`);
    this.socket.write(`POST /webhook HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  }

  write(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.socket.write(data, () => resolve()));
  }

  writeChunk(data: Uint8Array): Promise<void> {
    return this.write(Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]));
  }

  /** The status line, once it is there. */
  status(): Promise<number> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = /^HTTP\/1\.1 (\d+)/.exec(this.#text);
        if (found) resolve(Number(found[1]));
      };
      this.socket.on('data', look);
      this.socket.on('close', () => reject(new Error(`Closed without an answer: ${this.#text}`)));
      look();
    });
  }

  end(): void {
    this.socket.destroy();
  }
}
