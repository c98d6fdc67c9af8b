import net from 'node:net';

/** One response, as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case; a repeated header's values joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Unix milliseconds at which the first byte of this response was seen. */
  readonly firstByteAt: number;
  /** Milliseconds from the last `write` before this answer was awaited to its last byte. */
  readonly durationMs: number;
}

const WAIT_MS = 5000;

/**
 * One HTTP/1.1 connection on which every byte is ours to choose: cut in two, malformed, endless, or never sent. Node's
 * own client refuses or repairs much of that.
 */
export class Connection {
  readonly #socket: net.Socket;
  #received: Buffer = Buffer.alloc(0);
  #ended = false;
  #firstByteAt = 0;
  #writtenAt: number = performance.now();
  #wake: () => void = () => {};

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => {
      if (this.#received.length === 0) this.#firstByteAt = Date.now();
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    // A reset is an end too: the cases look at what had arrived by then.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#ended = true;
      this.#wake();
    });
    socket.on('end', () => {
      this.#ended = true;
      this.#wake();
    });
  }

  static open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = net.connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port), noDelay: true });
      socket.once('connect', () => resolve(new Connection(socket)));
      socket.once('error', reject);
    });
  }

  /** Resolves once the bytes are with the operating system; false when the connection is gone. */
  write(data: string | Uint8Array): Promise<boolean> {
    this.#writtenAt = performance.now();
    if (this.#socket.destroyed || !this.#socket.writable) return Promise.resolve(false);
    return new Promise((resolve) => {
      // Strings are written byte for byte, so that a header can hold any byte.
      const bytes = typeof data === 'string' ? Buffer.from(data, 'latin1') : data;
      this.#socket.write(bytes, (error) => resolve(!error));
    });
  }

  /** Whether the other side has closed. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether any byte of a response has come. */
  get answered(): boolean {
    return this.#received.length > 0;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Waits until the other side closes. */
  async closed(ms: number = WAIT_MS): Promise<void> {
    const end = performance.now() + ms;
    while (!this.#ended) await this.#more(end, 'the connection to be closed');
  }

  /** Reads one response. A HEAD request's has no body, whatever its headers say. */
  async answer(method = 'POST', ms: number = WAIT_MS): Promise<RawAnswer> {
    const end = performance.now() + ms;
    for (;;) {
      const head = await this.#until((received) => received.indexOf('\r\n\r\n'), end, 'the head of a response');
      const lines = this.#take(head + 4)
        .toString('latin1')
        .trimEnd()
        .split('\r\n');
      const status = Number(lines[0]?.split(' ')[1]);
      const headers: Record<string, string> = {};
      for (const line of lines.slice(1)) {
        const at = line.indexOf(':');
        const name = line.slice(0, at).toLowerCase();
        const value = line.slice(at + 1).trim();
        headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
      }
      const firstByteAt = this.#firstByteAt;
      if (status === 100) continue;
      const bodyless = method === 'HEAD' || status === 204 || status === 304;
      const body = bodyless ? Buffer.alloc(0) : await this.#body(headers, end);
      // What has come beyond this response belongs to the next one, and so does the time of its first byte.
      if (this.#received.length > 0) this.#firstByteAt = Date.now();
      return { status, headers, body, firstByteAt, durationMs: performance.now() - this.#writtenAt };
    }
  }

  async #body(headers: Readonly<Record<string, string>>, end: number): Promise<Buffer> {
    if (headers['transfer-encoding']?.toLowerCase() === 'chunked') {
      const parts: Buffer[] = [];
      for (;;) {
        const line = await this.#until((received) => received.indexOf('\r\n'), end, 'the size of a chunk');
        const size = Number.parseInt(this.#take(line + 2).toString('latin1'), 16);
        const chunk = await this.#exactly(size + 2, end);
        if (size === 0) return Buffer.concat(parts);
        parts.push(chunk.subarray(0, size));
      }
    }
    if (headers['content-length'] !== undefined) return this.#exactly(Number(headers['content-length']), end);
    while (!this.#ended) await this.#more(end, 'the end of a response without a length');
    return this.#take(this.#received.length);
  }

  async #exactly(size: number, end: number): Promise<Buffer> {
    await this.#until((received) => (received.length >= size ? 0 : -1), end, `${size} bytes of a response`);
    return this.#take(size);
  }

  async #until(find: (received: Buffer) => number, end: number, what: string): Promise<number> {
    for (;;) {
      const at = find(this.#received);
      if (at >= 0) return at;
      if (this.#ended) throw new Error(`The connection was closed before ${what} had come.`);
      await this.#more(end, what);
    }
  }

  #more(end: number, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`Waited too long for ${what}.`)),
        Math.max(0, end - performance.now()),
      );
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #take(size: number): Buffer {
    const taken = this.#received.subarray(0, size);
    this.#received = this.#received.subarray(size);
    return taken;
  }
}
