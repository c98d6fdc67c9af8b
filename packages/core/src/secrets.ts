import { type HmacKey, hmacKey } from '#hmac';
import { configError } from './errors.ts';

/** One secret, several, or several with names. Each is the endpoint's whole secret, `whsec_` included. */
export type Secrets =
  | string
  | readonly string[]
  | { readonly [endpoint: string]: string | readonly string[] | undefined };

/** The `secret` option: secrets, or a function that gives them, called once per request. */
export type SecretOption = Secrets | (() => Secrets | Promise<Secrets>);

/** A checked secret, ready to sign with. */
export interface SecretKey {
  readonly endpoint: string | undefined;
  readonly key: HmacKey;
}

/** The environment variable that is read where no `secret` is given. */
export const SECRET_VARIABLE = 'FACTUAREA_WEBHOOK_SECRET';

/** Checks secrets and prepares their keys. @throws `config_error`, never naming the secret. */
export function secretKeys(secrets: unknown): SecretKey[] {
  if (typeof secrets === 'string') return [{ endpoint: undefined, key: keyOf(secrets, undefined) }];
  const named = !Array.isArray(secrets) && typeof secrets === 'object' && secrets !== null;
  const entries: [string | undefined, unknown][] = named
    ? Object.entries(secrets).flatMap(([name, value]) => list(value).map((one): [string, unknown] => [name, one]))
    : list(secrets).map((one) => [undefined, one]);
  if (entries.length === 0) throw configError(`\`secret\` is empty. ${whereToFind}`);
  return entries.map(([endpoint, secret]) => ({ endpoint, key: keyOf(secret, endpoint) }));
}

// Making a key took as long as parsing a 2 KB event (1.7 µs each), and a `secret` function is asked at every request.
const keys = new Map<unknown, HmacKey>();

function keyOf(secret: unknown, endpoint: string | undefined): HmacKey {
  const known = keys.get(secret);
  if (known) return known;
  const key = hmacKey(checkSecret(secret, endpoint));
  if (keys.size >= 64) keys.clear();
  keys.set(secret, key);
  return key;
}

/** Secrets of the environment, comma-separated; undefined where the variable is missing or blank. */
export function environmentSecrets(): string[] | undefined {
  // Not every runtime has `process`.
  const value = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[
    SECRET_VARIABLE
  ];
  return value?.trim() ? value.split(',') : undefined;
}

const whereToFind = 'Copy it from the endpoint’s page at Factuarea; it begins with whsec_.';

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) return [value];
  // An empty list under a name is a mistake too, so it stays visible as a missing secret.
  return value.length === 0 ? [undefined] : value;
}

function checkSecret(secret: unknown, endpoint: string | undefined): string {
  const which = endpoint === undefined ? 'A secret' : `The secret of \`${endpoint}\``;
  if (secret !== undefined && secret !== null && typeof secret !== 'string')
    throw configError(`${which} is no string.`);
  if (typeof secret !== 'string' || secret.trim() === '') throw configError(`${which} is missing. ${whereToFind}`);
  const trimmed = secret.trim();
  if (/["'`\s]/.test(trimmed)) throw configError(`${which} holds quotes or spaces. Remove them where it is set.`);
  if (trimmed.includes(',')) throw configError(`${which} holds a comma. Pass several secrets as an array.`);
  if (!/^whsec_[!-~]+$/.test(trimmed)) throw configError(`${which} is not a whole whsec_… secret. ${whereToFind}`);
  return trimmed;
}
