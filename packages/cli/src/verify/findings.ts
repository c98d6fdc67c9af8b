import type { FaultCode } from './variants.ts';

export type FindingCode =
  | Exclude<FaultCode, 'none'>
  | 'header_missing'
  | 'header_unreadable'
  | 'header_no_t'
  | 'header_no_v1'
  | 'header_two_t'
  | 'header_bad_t'
  | 'header_bad_v1'
  | 'body_empty'
  | 'body_truncated'
  | 'body_not_json'
  | 'body_replaced'
  | 'secret_wrong'
  | 'no_match'
  | 'timestamp_old'
  | 'timestamp_future';

/** One thing that is wrong, for people and for scripts. */
export interface Finding {
  readonly code: FindingCode;
  /** What is wrong. */
  readonly problem: string;
  /** What to do. */
  readonly fix: string;
}

/** The words for a finding. `detail` goes behind the problem. */
export function explain(code: FindingCode | 'none', detail?: string): Finding {
  const known = code as FindingCode;
  const [problem, fix] = texts[known];
  return { code: known, problem: detail ? `${problem}: ${detail}.` : `${problem}.`, fix };
}

const keepBytes =
  'Verify the bytes that arrived, before anything parses them. In Express: mount the webhook before express.json().';
const secretFix = 'Copy the secret again from the endpoint’s page, without anything around it.';

const texts: Readonly<Record<FindingCode, readonly [problem: string, fix: string]>> = {
  secret_whitespace: ['The secret has white space around it. Without it, the signature holds', secretFix],
  secret_quotes: [
    'The secret has quotes around it. Without them, the signature holds',
    'Take the quotes off. Docker’s --env-file and some secret stores keep them as part of the value.',
  ],
  secret_scheme_prefix: [
    'The secret begins with "v1,". Without it, the signature holds',
    'The secret is the string that begins with whsec_.',
  ],
  secret_base64_decoded: [
    'The signature was made with the base64-decoded part after whsec_ as the key',
    'That is another scheme’s rule. Factuarea’s key is the whole string, whsec_ included, as UTF-8: mend whatever signed this.',
  ],
  secret_prefix_stripped: [
    'The signature was made with the secret without its whsec_',
    'Factuarea’s key is the whole string, whsec_ included: mend whatever signed this.',
  ],
  secret_prefix_missing: [
    'The secret lacks its whsec_. With it, the signature holds',
    'Configure the whole string, whsec_ included. It is not decoded or cut.',
  ],
  secret_wrong: [
    'The body is written as Factuarea writes it, but the signature is of another secret',
    'Each endpoint has its own secret, and a rotation ends after 24 hours. Copy the secret of the endpoint that sent this.',
  ],
  body_bom: [
    'The body begins with a byte order mark that was not signed',
    'Factuarea sends none: an editor or a decoder added it. Save the capture as plain bytes.',
  ],
  body_crlf: [
    'The body’s line ends were changed after signing',
    'A text-mode transfer or Git’s autocrlf does this. Keep the capture as binary.',
  ],
  body_trailing_newline: [
    'The body has a line end behind it that was not signed',
    'An editor or `echo` added it. Use printf or --data-binary, or save without a final newline.',
  ],
  body_newline_lost: ['The body has lost its final newline', 'Something trimmed it. Keep the body as it arrived.'],
  body_reserialised: ['The body was parsed and written anew after signing', keepBytes],
  body_latin1: [
    'The body was read as Latin-1 and written as UTF-8',
    'Keep the body as bytes. Do not decode it before verifying.',
  ],
  body_base64: [
    'The body is base64. What it holds is what was signed',
    'API gateways do this (isBase64Encoded). Decode it before verifying.',
  ],
  body_quoted: [
    'The body is a JSON string that holds the signed JSON',
    'It was serialised twice: something called JSON.stringify on a text. Pass the text itself.',
  ],
  body_gzip: [
    'The body is compressed. Uncompressed, the signature holds',
    'Factuarea does not compress: look for a proxy that does, and turn it off for this route.',
  ],
  body_truncated: [
    'The body was cut, so its signature cannot hold',
    'Look for a size limit in the proxy, the framework or the log that the capture comes from.',
  ],
  body_empty: [
    'The body is empty',
    'Something read it first. Mount the webhook before any body parser, and capture the raw bytes.',
  ],
  body_not_json: [
    'The body is not JSON, and no usual change makes the signature hold',
    'Capture the raw bytes of the request.',
  ],
  body_replaced: [
    'The body holds replacement characters (U+FFFD): bytes were decoded wrongly and are lost',
    'A character was split between two chunks, or the charset was guessed. Join the bytes first, decode after verifying.',
  ],
  no_match: [
    'Neither a usual fault of the secret nor one of the body makes the signature hold',
    'Check that this secret is the one of the endpoint that sent this, and that the body is the raw one.',
  ],
  timestamp_not_signed: [
    'The signature is over the body alone',
    'The signed message is t, a dot, and the body: mend whatever signed this. Otherwise old deliveries could be sent again.',
  ],
  timestamp_milliseconds: [
    'The time t is in milliseconds',
    'Factuarea’s t is in seconds: mend whatever signed this (Math.floor(Date.now() / 1000)).',
  ],
  timestamp_old: [
    'The signature is good, but older than accepted',
    'Each attempt is signed anew, so this is an old capture (give --at with the time of its arrival) or a clock that is ahead.',
  ],
  timestamp_future: [
    'The signature is good, but from the future',
    'The clock of this machine is behind. Synchronise it, or give --at with the time of arrival.',
  ],
  digest_upper_case: [
    'The digest is in upper case. In lower case, it holds',
    'Factuarea writes lower-case hex: something on the way, or whatever signed this, changed it.',
  ],
  digest_base64: ['The digest is base64. As hex, it holds', 'Factuarea writes hex: mend whatever signed this.'],
  header_missing: [
    'There is no Factuarea-Signature header',
    'Give it with --header. If the request had none, it was not from Factuarea, or a proxy removed it.',
  ],
  header_unreadable: ['The header has neither t= nor v1=', 'Give the whole value: t=<seconds>,v1=<64 hex digits>.'],
  header_no_t: ['The header has no t=', 'Give the whole value: t=<seconds>,v1=<64 hex digits>.'],
  header_no_v1: [
    'The header has no v1=',
    'Only v1 is Factuarea’s. Other pairs are ignored, so nothing is signed here.',
  ],
  header_two_t: ['The header has more than one t=', 'Two headers were joined. Factuarea sends one, with one t.'],
  header_bad_t: ['The header’s t is no whole number', 'Factuarea’s t is Unix seconds, in digits only.'],
  header_bad_v1: ['No v1 in the header is a digest of 64 hex digits', 'Give the whole value. A log may have cut it.'],
};
