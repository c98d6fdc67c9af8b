import { equal, hmac, unhex } from '#hmac';
import { configError } from './errors.ts';
import { type SecretKey, type Secrets, secretKeys } from './secrets.ts';
import type { HeaderValue } from './types.ts';

/** Why a signature did not hold. For logs: the sender is told `invalid_signature` only. */
export type SignatureFailure =
  | 'signature_missing'
  | 'signature_malformed'
  | 'signature_mismatch'
  | 'timestamp_out_of_tolerance';

/** Headers in any of the usual forms: a plain object in any spelling, a `Headers`, a `Map`. */
export type HeadersLike = { get(name: string): unknown } | { readonly [name: string]: HeaderValue };

/** What `verifySignature` takes. */
export interface VerifyOptions {
  /** The value of `Factuarea-Signature`, or all headers in any usual form. */
  readonly signature: HeaderValue | HeadersLike;
  /** The body exactly as it arrived. A string is taken as UTF-8; a parsed body cannot be verified. */
  readonly body: Uint8Array | string;
  readonly secret: Secrets;
  /** Accepted clock difference in seconds, both ways. Default 300. */
  readonly toleranceSeconds?: number;
  /** When the delivery arrived, in Unix seconds: for one that sat in a queue. Default: now. */
  readonly receivedAt?: number;
}

/** What `verifySignature` gives. */
export type Verified =
  | { readonly ok: true; readonly endpoint: string | undefined; readonly timestamp: number }
  | { readonly ok: false; readonly reason: SignatureFailure };

/** What `signDelivery` takes. */
export interface SignOptions {
  readonly body: Uint8Array | string;
  /** One secret, or several as during a rotation: each adds a `v1`. */
  readonly secret: string | readonly string[];
  /** Unix seconds. Default: now. */
  readonly timestamp?: number;
}

/**
 * Checks a delivery's signature without a receiver. A signature that does not hold is a result, not an exception.
 *
 * @throws `config_error` where an option is unusable, such as an empty secret or a parsed body.
 * @example
 * ```ts
 * const result = await verifySignature({ signature: request.headers, body: bytes, secret: 'whsec_…' });
 * if (!result.ok) console.warn(result.reason);
 * ```
 */
export async function verifySignature(options: VerifyOptions): Promise<Verified> {
  const keys = secretKeys(options.secret);
  const body = bytesOf(options.body);
  const tolerance = checkTolerance(options.toleranceSeconds);
  const now = options.receivedAt ?? Date.now() / 1000;
  if (!Number.isFinite(now)) throw configError('`receivedAt` is not a number. Give Unix seconds.');
  const header = readSignature(signatureIn(options.signature), now, tolerance);
  if (typeof header === 'string') return { ok: false, reason: header };
  const matching = matchSignature(header, body, keys);
  const match = matching instanceof Promise ? await matching : matching;
  return match
    ? { ok: true, endpoint: match.endpoint, timestamp: header.timestamp }
    : { ok: false, reason: 'signature_mismatch' };
}

/**
 * Signs a body as Factuarea does and gives the value of `Factuarea-Signature`.
 *
 * @throws `config_error` where an option is unusable.
 * @example
 * ```ts
 * await signDelivery({ body: '{"id":"…"}', secret: 'whsec_…' }); // 't=1767225600,v1=5f0c…'
 * ```
 */
export async function signDelivery(options: SignOptions): Promise<string> {
  const body = bytesOf(options.body);
  const timestamp = options.timestamp ?? Math.floor(Date.now() / 1000);
  if (!Number.isSafeInteger(timestamp) || timestamp < 0) {
    throw configError('`timestamp` is not a whole number of Unix seconds.');
  }
  const digests = secretKeys(options.secret).map(async ({ key }) => hex(await hmac(key, `${timestamp}.`, body)));
  return [`t=${timestamp}`, ...(await Promise.all(digests)).map((digest) => `v1=${digest}`)].join(',');
}

/** A readable signature header. */
export interface SignatureHeader {
  /** `t` exactly as written: it is hashed as it stands. */
  readonly t: string;
  readonly timestamp: number;
  /** The digests of well-formed `v1` pairs. A malformed one can match nothing, so it is left out. */
  readonly digests: readonly Uint8Array[];
}

/** Reads the header and checks its age; gives the reason where it cannot pass. Never throws. */
export function readSignature(
  value: HeaderValue,
  nowSeconds: number,
  toleranceSeconds: number,
): SignatureHeader | Exclude<SignatureFailure, 'signature_mismatch'> {
  const values = typeof value === 'string' ? [value] : (value ?? []);
  if (values.length === 0 || values[0] === '') return 'signature_missing';
  if (values.length > 1) return 'signature_malformed';
  let t: string | undefined;
  let v1 = 0;
  const digests: Uint8Array[] = [];
  for (const pair of String(values[0]).split(',')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(at, 0)).trim();
    const text = pair.slice(at + 1).trim();
    if (name === 't') {
      if (t !== undefined || !/^\d{1,16}$/.test(text)) return 'signature_malformed';
      t = text;
    } else if (name === 'v1') {
      v1++;
      if (/^[0-9a-f]{64}$/.test(text)) digests.push(unhex(text));
    }
  }
  if (t === undefined || v1 === 0) return 'signature_malformed';
  const timestamp = Number(t);
  if (!(Math.abs(Math.floor(nowSeconds) - timestamp) <= toleranceSeconds)) return 'timestamp_out_of_tolerance';
  return { t, timestamp, digests };
}

/** The first key under which one of the header's digests holds. The body is hashed once per key. */
export function matchSignature(
  header: SignatureHeader,
  body: Uint8Array,
  keys: readonly SecretKey[],
): SecretKey | undefined | Promise<SecretKey | undefined> {
  if (header.digests.length === 0) return undefined;
  for (let at = 0; at < keys.length; at++) {
    const secret = keys[at] as SecretKey;
    const expected = hmac(secret.key, `${header.t}.`, body);
    // Only where the platform hashes asynchronously: a promise for each event is much where it does not.
    if (!ArrayBuffer.isView(expected)) {
      return expected.then((made) => (holds(header, made) ? secret : matchSignature(header, body, keys.slice(at + 1))));
    }
    if (holds(header, expected)) return secret;
  }
  return undefined;
}

function holds({ digests }: SignatureHeader, expected: Uint8Array): boolean {
  for (const digest of digests) if (equal(expected, digest)) return true;
  return false;
}

/** @throws `config_error` for anything that would switch the check off. */
export function checkTolerance(seconds: unknown = 300): number {
  if (typeof seconds === 'number' && seconds > 0 && seconds <= 86_400) return seconds;
  throw configError('`toleranceSeconds` must be a number of seconds above 0, and at most 86400 (a day).');
}

const SIGNATURE = 'factuarea-signature';

function signatureIn(source: VerifyOptions['signature']): HeaderValue {
  if (source === null || typeof source !== 'object' || Array.isArray(source)) return source as HeaderValue;
  if (typeof (source as { get?: unknown }).get === 'function') {
    const { get } = source as { get(name: string): unknown };
    const found = get.call(source, SIGNATURE) ?? get.call(source, 'Factuarea-Signature');
    return found as HeaderValue;
  }
  // Two spellings of one header are two headers, as an array of two is.
  return Object.entries(source).flatMap(([name, value]) =>
    name.toLowerCase() === SIGNATURE ? ((value ?? []) as string | string[]) : [],
  );
}

function bytesOf(body: unknown): Uint8Array {
  // Not `instanceof`: under test runners that use several realms it says no to a Buffer.
  if (body instanceof Uint8Array) return body;
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (typeof body === 'string') return new TextEncoder().encode(body);
  throw configError('`body` is neither bytes nor a string. Pass the raw body: a parsed one has lost the signed bytes.');
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
