import assert from 'node:assert/strict';
import { signDelivery } from '@factuarea-webhook/core';
import type { ContractConfig, ContractRun, ContractState } from './contract-app.ts';
import { phpJson } from './php-json.ts';
import { Connection, type RawAnswer } from './raw-client.ts';
import { uuidV7 } from './uuid.ts';

/** The two forms of use, each with a path of its own. */
export type Form = 'handler' | 'middleware';

/** An event of the contract: its id and its signed bytes. */
export interface ProbeEvent {
  readonly id: string;
  readonly body: Uint8Array;
}

/** How one attempt differs from an ordinary one. */
export interface Attempt {
  readonly path?: string;
  readonly method?: string;
  /** The signature header as it stands; null for none. Default: one that holds, made now. */
  readonly signature?: string | null;
  /** Further headers; null takes an ordinary one away. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** The pieces that the body is written in, with a pause between them. Default: all at once. */
  readonly pieces?: readonly Uint8Array[];
  readonly chunked?: boolean;
  readonly on?: Connection;
}

/** Text that is in every signed body and must be in no log and no answer. */
export const PAYLOAD_MARK = 'mark-7d1c2e';

/** What the cases use to question one app in one form. */
export class Probe {
  readonly form: Form;
  readonly url: string;
  readonly config: ContractConfig;

  constructor(form: Form, url: string, config: ContractConfig) {
    this.form = form;
    this.url = url;
    this.config = config;
  }

  /** Makes an event that tells the app how to behave: in its first run by the first word, and so on. */
  event(behave: readonly string[] = ['succeed'], more: Readonly<Record<string, unknown>> = {}): ProbeEvent {
    const id = typeof more['id'] === 'string' ? more['id'] : uuidV7();
    const { note, ...envelope } = more;
    const object = {
      object: 'invoice',
      id: uuidV7(),
      metadata: { behave },
      note: note ?? 'Peña / 1',
      mark: PAYLOAD_MARK,
    };
    const body = phpJson({
      id,
      type: 'invoice.sent',
      api_version: '2026-09-23',
      created: Math.floor(Date.now() / 1000),
      livemode: false,
      test: true,
      correlation_id: null,
      data: { type: 'invoice.sent', object },
      ...envelope,
    });
    return { id, body: Buffer.from(body, 'latin1') };
  }

  sign(
    body: Uint8Array,
    timestamp: number = now(),
    secret: string | string[] = this.config.secrets.company,
  ): Promise<string> {
    return signDelivery({ body, secret, timestamp });
  }

  /** Sends one attempt and gives the answer. */
  async send({ id, body }: ProbeEvent, attempt: Attempt = {}): Promise<RawAnswer> {
    const connection = attempt.on ?? (await Connection.open(this.url));
    try {
      const head = Buffer.from(await this.head({ id, body }, attempt), 'latin1');
      const pieces = (attempt.pieces ?? (body.length > 0 ? [body] : [])).map((piece) =>
        attempt.chunked ? [`${piece.length.toString(16)}\r\n`, piece, '\r\n'] : [piece],
      );
      // The head goes with the first piece, the end with the last. A server may close on a sender that it has answered
      // and that still sends (RFC 9112, 9.6): a write that meets that takes the answer with it.
      const writes = pieces.length > 0 ? pieces : [[]];
      writes[0]?.unshift(head);
      if (attempt.chunked) writes.at(-1)?.push('0\r\n\r\n');
      for (const [at, parts] of writes.entries()) {
        // The pause makes the pieces arrive as pieces: the system would join them otherwise.
        if (at > 0) await pause(40);
        await connection.write(Buffer.concat(parts.map((part) => Buffer.from(part))));
      }
      return await connection.answer(attempt.method ?? 'POST');
    } finally {
      if (!attempt.on) connection.destroy();
    }
  }

  /** Sends one attempt and leaves once the app has it. */
  async sendAndLeave(event: ProbeEvent): Promise<void> {
    const connection = await Connection.open(this.url);
    await connection.write(await this.head(event));
    await connection.write(event.body);
    await until('the handler runs', async () => (await this.runs(event.id))[0]);
    connection.destroy();
  }

  /** The head of a request, with the headers that Factuarea sends. */
  async head({ id, body }: ProbeEvent, attempt: Attempt = {}): Promise<string> {
    const signature = attempt.signature === undefined ? await this.sign(body) : attempt.signature;
    const headers: Record<string, string | null> = {
      Host: new URL(this.url).host,
      'Content-Type': 'application/json',
      'Content-Length': attempt.chunked ? null : String(body.length),
      'Transfer-Encoding': attempt.chunked ? 'chunked' : null,
      'Factuarea-Signature': signature,
      'Factuarea-Event-Id': id,
      'Factuarea-Event-Type': 'invoice.sent',
      'Factuarea-Delivery-Id': id,
      'Idempotency-Key': id,
      ...attempt.headers,
    };
    const lines = Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : `${name}: ${value}`));
    const path = attempt.path ?? `/${this.form}`;
    return [`${attempt.method ?? 'POST'} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n');
  }

  async state(): Promise<ContractState> {
    const response = await fetch(new URL('/contract/state', this.url));
    assert.equal(response.status, 200, 'GET /contract/state does not answer 200');
    // Not `response.json()`: under jest its arrays are of another realm, and equal none of ours.
    return JSON.parse(await response.text()) as ContractState;
  }

  async runs(id: string): Promise<readonly ContractRun[]> {
    return (await this.state()).runs.filter((run) => run.id === id);
  }

  /** The codes of what the requests with this delivery id came to. */
  async outcomes(deliveryId: string): Promise<ContractState['outcomes']> {
    return (await this.state()).outcomes.filter((outcome) => outcome.deliveryId === deliveryId);
  }

  /** The calls that were made to the store for an event, such as `claim mine`. */
  async calls(id: string): Promise<string[]> {
    return (await this.state()).store.filter((call) => call.id === id).map(({ call, result }) => `${call} ${result}`);
  }

  /** The event has not been claimed, and the handler has not run. */
  async untouched(id: string): Promise<void> {
    const { runs, store } = await this.state();
    assert.deepEqual(
      store.filter((call) => call.id === id),
      [],
      'the store was asked',
    );
    assert.deepEqual(
      runs.filter((run) => run.id === id),
      [],
      'the handler ran',
    );
  }

  /** What goes out when the event has been handled: our answer in the handler form, the app's in the other. */
  isHandled(answer: RawAnswer): void {
    if (this.form === 'handler') this.isAnswer(answer, 200, 'handled');
    else {
      const { status, body, headers } = answer;
      assert.deepEqual([status, body.toString(), headers['x-app']], [200, 'app:200', 'contract']);
    }
  }

  /** Exactly the answer that every adapter gives for this code. */
  isAnswer(answer: RawAnswer, status: number, code: string): void {
    assert.deepEqual(
      { status: answer.status, body: answer.body.toString(), type: answer.headers['content-type'] },
      { status, body: `{"code":"${code}"}`, type: 'application/json' },
    );
    assert.equal(answer.headers['allow'], status === 405 ? 'POST' : undefined);
  }
}

/** Asks again and again until `check` gives something, and fails after a while. */
export async function until<Value>(
  what: string,
  check: () => Promise<Value | undefined | false>,
  ms = 8000,
): Promise<Value> {
  const end = performance.now() + ms;
  for (;;) {
    const value = await check();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > end) throw new Error(`Waited too long until ${what}.`);
    await pause(20);
  }
}

/** Sends an event until it is answered 200, as Factuarea's retries do. */
export async function retried(probe: Probe, event: ProbeEvent): Promise<RawAnswer> {
  return until('a retry is answered 200', async () => {
    const answer = await probe.send(event);
    if (answer.status === 200) return answer;
    probe.isAnswer(answer, 503, 'in_progress');
    return undefined;
  });
}

export function now(): number {
  return Math.floor(Date.now() / 1000);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
