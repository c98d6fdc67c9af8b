/** A secret, ready to sign with. */
export type HmacKey = Promise<CryptoKey>;

type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const encoder = new TextEncoder();
const algorithm = { name: 'HMAC', hash: 'SHA-256' };

export function hmacKey(secret: string): HmacKey {
  const key = crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
  // The rejection reaches whoever signs; without this line it would also end the process when nobody signs.
  key.catch(() => {});
  return key;
}

/** HMAC-SHA256 over `prefix` and then `body`. */
export async function hmac(key: HmacKey, prefix: string, body: Uint8Array): Promise<Uint8Array> {
  const message = new Uint8Array(prefix.length + body.length);
  encoder.encodeInto(prefix, message);
  message.set(body, prefix.length);
  return new Uint8Array(await crypto.subtle.sign('HMAC', await key, message));
}

/** Compares two arrays of equal length in constant time. */
export function equal(a: Uint8Array, b: Uint8Array): boolean {
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0);
  return difference === 0;
}

/** The bytes that pairs of lower-case hex digits stand for. */
export function unhex(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = (nibble(text, 2 * i) << 4) | nibble(text, 2 * i + 1);
  return bytes;
}

function nibble(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 58 ? code - 48 : code - 87;
}
