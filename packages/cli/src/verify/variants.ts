import { gunzipSync } from 'node:zlib';
import { forms, inEnvelopeOrder, readJson, writeJson } from './json-forms.ts';

/** One thing that may have gone wrong on one side, and the value as it would be without it. */
export interface Variant<Value> {
  readonly code: FaultCode;
  readonly value: Value;
  /** Which serialiser, which character. */
  readonly detail?: string;
}

export type FaultCode =
  | 'none'
  | 'secret_whitespace'
  | 'secret_quotes'
  | 'secret_scheme_prefix'
  | 'secret_base64_decoded'
  | 'secret_prefix_stripped'
  | 'secret_prefix_missing'
  | 'body_bom'
  | 'body_crlf'
  | 'body_trailing_newline'
  | 'body_newline_lost'
  | 'body_reserialised'
  | 'body_latin1'
  | 'body_base64'
  | 'body_quoted'
  | 'body_gzip'
  | 'timestamp_not_signed'
  | 'timestamp_milliseconds'
  | 'digest_upper_case'
  | 'digest_base64';

type Bytes = Uint8Array;

/** Keys the signature may have been made with, given what the receiver was configured with. */
export function keyVariants(secret: string): Variant<Bytes>[] {
  const found: Variant<Bytes>[] = [];
  const add = (code: FaultCode, value: string | Bytes): void => {
    const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
    if (bytes.length > 0) found.push({ code, value: bytes });
  };
  add('none', secret);
  const trimmed = secret.replace(/^[\s\uFEFF]+|[\s\uFEFF]+$/g, '');
  if (trimmed !== secret) add('secret_whitespace', trimmed);
  const unquoted = /^(["'`])(.*)\1$/s.exec(trimmed)?.[2]?.trim();
  if (unquoted !== undefined) add('secret_quotes', unquoted);
  const plain = unquoted ?? trimmed;
  const withoutScheme = /^v1,(.+)$/s.exec(plain)?.[1];
  if (withoutScheme !== undefined) add('secret_scheme_prefix', withoutScheme);
  if (plain.startsWith('whsec_')) {
    const rest = plain.slice('whsec_'.length);
    add('secret_prefix_stripped', rest);
    add('secret_base64_decoded', Buffer.from(rest, 'base64'));
  } else {
    add('secret_prefix_missing', `whsec_${plain}`);
  }
  return found;
}

/** Bodies that may have been signed, given the one that was captured. */
export function bodyVariants(body: Bytes): Variant<Bytes>[] {
  const found: Variant<Bytes>[] = [];
  const seen = new Set<string>();
  const add = (code: FaultCode, value: string | Bytes, detail?: string): void => {
    const bytes = Buffer.from(value as string);
    const key = bytes.toString('latin1');
    if (seen.has(key)) return;
    seen.add(key);
    found.push({ code, value: bytes, ...(detail && { detail }) });
  };
  add('none', body);
  const buffer = Buffer.from(body);
  const hasBom = buffer.subarray(0, 3).toString('latin1') === '\u00ef\u00bb\u00bf';
  if (hasBom) add('body_bom', buffer.subarray(3));
  const raw = buffer.toString('latin1');
  if (/[\r\n]$/.test(raw)) add('body_trailing_newline', Buffer.from(raw.replace(/[\r\n]+$/, ''), 'latin1'));
  add('body_newline_lost', Buffer.concat([buffer, Buffer.from('\n')]));
  if (raw.includes('\r\n')) add('body_crlf', Buffer.from(raw.replaceAll('\r\n', '\n'), 'latin1'));
  else if (raw.includes('\n')) add('body_crlf', Buffer.from(raw.replaceAll('\n', '\r\n'), 'latin1'));
  const text = buffer.toString('utf8').replace(/^\uFEFF/, '');
  // Read as Latin-1 and written as UTF-8: every byte above 127 has become two.
  if (/[\u0080-\u00ff]/.test(text) && !/[^\0-\u00ff]/.test(text)) add('body_latin1', Buffer.from(text, 'latin1'));
  if (/^[A-Za-z0-9+/=\s]{8,}$/.test(text)) add('body_base64', Buffer.from(text, 'base64'));
  const unzipped = gunzipped(buffer);
  if (unzipped) add('body_gzip', unzipped);
  const json = readJson(text);
  if (json.kind === 'broken') return found;
  if (json.kind === 'string') add('body_quoted', json.value);
  for (const form of forms) add('body_reserialised', writeJson(json, form), form.name);
  for (const form of forms) add('body_reserialised', `${writeJson(json, form)}\n`, `${form.name}, and a newline`);
  const ordered = inEnvelopeOrder(json);
  for (const form of forms) {
    add('body_reserialised', writeJson(ordered, form), `${form.name}, with the envelope’s fields in their own order`);
  }
  return found;
}

/** The serialiser whose output the body looks like. */
export function formOf(body: Bytes): string | undefined {
  const text = Buffer.from(body).toString('utf8');
  const json = readJson(text);
  return json.kind === 'broken' ? undefined : forms.find((form) => writeJson(json, form) === text)?.name;
}

/** What may stand before the body in the signed message. */
export function prefixVariants(t: string): Variant<string>[] {
  return [
    { code: 'none', value: `${t}.` },
    { code: 'timestamp_not_signed', value: '' },
    ...(/^\d{13}$/.test(t) ? [{ code: 'timestamp_milliseconds', value: `${t.slice(0, -3)}.` } as const] : []),
  ];
}

/** The digests of the header, as lower-case hex, and as what they may have been before something rewrote them. */
export function digestVariants(v1: readonly string[]): Variant<string>[] {
  return v1.flatMap((written): Variant<string>[] => {
    if (/^[0-9a-f]{64}$/.test(written)) return [{ code: 'none', value: written }];
    if (/^[0-9a-f]{64}$/i.test(written)) return [{ code: 'digest_upper_case', value: written.toLowerCase() }];
    const decoded = Buffer.from(written, 'base64');
    return decoded.length === 32 ? [{ code: 'digest_base64', value: decoded.toString('hex') }] : [];
  });
}

function gunzipped(bytes: Buffer): Buffer | undefined {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return undefined;
  try {
    return gunzipSync(bytes, { maxOutputLength: 64 * 1024 * 1024 });
  } catch {
    return undefined;
  }
}
