import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

/** A secret, ready to sign with. */
export type HmacKey = KeyObject;

export function hmacKey(secret: string): HmacKey {
  return createSecretKey(secret, 'utf8');
}

/** HMAC-SHA256 over `prefix` and then `body`. */
export function hmac(key: HmacKey, prefix: string, body: Uint8Array): Uint8Array | Promise<Uint8Array> {
  return createHmac('sha256', key).update(prefix).update(body).digest();
}

/** Compares two arrays of equal length in constant time. */
export function equal(a: Uint8Array, b: Uint8Array): boolean {
  return timingSafeEqual(a, b);
}

/** The bytes that pairs of lower-case hex digits stand for. */
export function unhex(text: string): Uint8Array {
  return Buffer.from(text, 'hex');
}
