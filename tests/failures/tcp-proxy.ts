import { createServer, connect as dial, type Server, type Socket } from 'node:net';

/** A network between a client and a server, with the faults that real ones have. */
export interface TcpProxy {
  readonly port: number;
  /** The same URL, by way of the proxy. */
  through(url: string): string;
  /** Carries everything again, on connections old and new. */
  pass(): void;
  /** Takes connections and carries nothing, as a firewall that drops packets does. */
  blackHole(): void;
  /** Carries every piece this many milliseconds late, in both directions. */
  delay(ms: number): void;
  /** Ends every connection there is. */
  cut(): void;
  /** Stops listening and ends every connection: new ones are refused until `accept`. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
  /**
   * Once, at the next piece from the client that contains `text`: `request` loses the piece itself; `reply` lets the
   * server act on it and loses what the server says to it. Then both ends are cut. Resolves when that has happened.
   */
  loseOnce(what: 'request' | 'reply', text: string): Promise<void>;
  /** Pieces that clients have sent so far. With one question at a time that is the number of round trips. */
  readonly requests: number;
  /** Connections that are open now. */
  readonly open: number;
  stop(): Promise<void>;
}

interface Loss {
  readonly what: 'request' | 'reply';
  readonly text: string;
  readonly happened: () => void;
}

/** Starts a proxy in front of the server at `url`. */
export async function tcpProxy(url: string): Promise<TcpProxy> {
  const target = { host: new URL(url).hostname, port: Number(new URL(url).port) };
  const pairs = new Set<readonly [Socket, Socket]>();
  let holding = false;
  let lateMs = 0;
  let loss: Loss | undefined;
  let requests = 0;

  function join(client: Socket): void {
    const server = dial(target.port, target.host);
    const pair = [client, server] as const;
    pairs.add(pair);
    let losingReply: Loss | undefined;
    const end = (): void => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    const lose = ({ happened }: Loss): void => {
      end();
      happened();
    };
    client.on('data', (data) => {
      requests++;
      if (!loss || !data.includes(loss.text)) return carry(data, server);
      const found = loss;
      loss = undefined;
      if (found.what === 'request') return lose(found);
      losingReply = found;
      server.write(data);
    });
    server.on('data', (data) => (losingReply ? lose(losingReply) : carry(data, client)));
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on('error', end);
      socket.on('close', end);
    }
    if (holding) for (const socket of pair) socket.pause();
  }

  function carry(data: Buffer, to: Socket): void {
    if (lateMs > 0) setTimeout(() => to.write(data), lateMs);
    else to.write(data);
  }

  function hold(on: boolean): void {
    holding = on;
    for (const pair of pairs) for (const socket of pair) on ? socket.pause() : socket.resume();
  }

  function cut(): void {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    pairs.clear();
  }

  let listener: Server;
  async function listen(port: number): Promise<number> {
    listener = createServer(join);
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject);
      listener.listen(port, '127.0.0.1', resolve);
    });
    return (listener.address() as { port: number }).port;
  }

  async function refuse(): Promise<void> {
    const closed = new Promise((resolve) => listener.close(resolve));
    cut();
    await closed;
  }

  const port = await listen(0);
  return {
    port,
    through(original) {
      const changed = new URL(original);
      changed.hostname = '127.0.0.1';
      changed.port = String(port);
      return changed.href;
    },
    pass() {
      lateMs = 0;
      hold(false);
    },
    blackHole: () => hold(true),
    delay(ms) {
      lateMs = ms;
    },
    cut,
    refuse,
    async accept() {
      await listen(port);
    },
    loseOnce: (what, text) =>
      new Promise((happened) => {
        loss = { what, text, happened };
      }),
    get requests() {
      return requests;
    },
    get open() {
      return pairs.size;
    },
    stop: refuse,
  };
}
