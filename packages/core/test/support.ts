import {
  type Claim,
  type ClaimOptions,
  type Incoming,
  type Logger,
  memoryStore,
  type OutcomeCode,
  type OwnClaim,
  type Store,
  signDelivery,
} from '../src/index.ts';

export const SECRET = 'whsec_7Qm2Zr9tLk4XvB1nAe6H';
export const OLDER_SECRET = 'whsec_5Jd8Pw3yHs6TqUc0RfGz';
/** 2026-01-01T00:00:00Z, the moment at which all fixed headers are signed. */
export const NOW = 1_767_225_600;

/** The body that the fixed headers are signed over. */
export function bodyOf(id: string): string {
  return `{"id":"${id}","type":"invoice.paid","data":{"total":12.50}}`;
}

/** A request as an adapter would make it, that counts how often its body is read. */
export interface TestRequest extends Incoming {
  reads: number;
  readonly kept: Promise<unknown>[];
}

export interface RequestParts {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
  readonly body?: Uint8Array | string | (() => Promise<Uint8Array>);
}

export function request({ method = 'POST', headers = {}, body = '' }: RequestParts = {}): TestRequest {
  const kept: Promise<unknown>[] = [];
  const made: TestRequest = {
    reads: 0,
    kept,
    method,
    header: (name) => headers[name],
    async body() {
      made.reads++;
      if (typeof body === 'function') return body();
      return typeof body === 'string' ? new TextEncoder().encode(body) : body;
    },
    waitUntil: (work) => kept.push(work),
  };
  return made;
}

/** A signed request, as Factuarea sends it. */
export async function delivery(
  body: string | Uint8Array,
  more: Omit<RequestParts, 'body'> & { secret?: string; timestamp?: number } = {},
): Promise<TestRequest> {
  const { secret = SECRET, timestamp = NOW, headers, ...rest } = more;
  const signature = await signDelivery({ body, secret, timestamp });
  return request({ ...rest, body, headers: { 'factuarea-signature': signature, ...headers } });
}

export interface Line {
  readonly level: 'info' | 'warn' | 'error';
  readonly fields: { readonly [name: string]: unknown };
  readonly message: string;
}

/** A logger that keeps its lines. */
export function keepingLogger(): Logger & { readonly lines: Line[] } {
  const lines: Line[] = [];
  const at = (level: Line['level']) => (fields: object, message: string) => {
    lines.push({ level, fields: { ...fields }, message });
  };
  return { lines, info: at('info'), warn: at('warn'), error: at('error') };
}

type ClaimParts = Partial<Pick<OwnClaim<unknown>, 'done' | 'release' | 'extend' | 'abandon' | 'tx'>>;

/** A memory store that tells what was asked of it, and lets a test put itself in the place of any part. */
export interface WatchedStore extends Store<undefined> {
  readonly calls: string[];
  readonly options: ClaimOptions[];
}

export function watchedStore(
  parts: (claim: OwnClaim<undefined>) => ClaimParts = () => ({}),
  inner: Store<undefined> = memoryStore(),
): WatchedStore {
  const calls: string[] = [];
  const options: ClaimOptions[] = [];
  return {
    calls,
    options,
    async claim(id, given): Promise<Claim<undefined>> {
      calls.push(`claim ${id}`);
      options.push(given);
      const claim = await inner.claim(id, given);
      if (claim.state !== 'mine') return claim;
      const used = { ...claim, ...parts(claim) } as OwnClaim<undefined>;
      const told = <Key extends 'done' | 'release' | 'extend' | 'abandon'>(key: Key) =>
        used[key] && {
          [key]: (...args: unknown[]) => {
            calls.push(key);
            return (used[key] as (...all: unknown[]) => unknown)(...args);
          },
        };
      return {
        ...used,
        ...told('done'),
        ...told('release'),
        ...told('extend'),
        ...told('abandon'),
      } as OwnClaim<undefined>;
    },
  };
}

/** The code in an answer's body. */
export function codeOf(outgoing: { readonly body: string | null }): OutcomeCode {
  return (JSON.parse(outgoing.body ?? '') as { code: OutcomeCode }).code;
}

/** What is thrown, or rejected with. Fails where nothing is. */
export async function thrownBy(work: () => unknown): Promise<Error & { code?: string }> {
  try {
    await work();
  } catch (error) {
    return error as Error & { code?: string };
  }
  throw new Error('Nothing was thrown.');
}

/** A promise with its ends in the hand. */
export function deferred<Value = void>(): {
  promise: Promise<Value>;
  resolve: (value: Value) => void;
  reject: (error: unknown) => void;
} {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<Value>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** A promise of another make. */
export function thenable(then: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => void): object {
  return Object.fromEntries([['then', then]]);
}
