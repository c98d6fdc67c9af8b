import { createHmac } from 'node:crypto';
import { explain, type Finding } from './findings.ts';
import { type ReadHeader, readHeader } from './header.ts';
import { readJson } from './json-forms.ts';
import { bodyVariants, digestVariants, formOf, keyVariants, prefixVariants, type Variant } from './variants.ts';

export interface Captured {
  /** The value of `Factuarea-Signature`. */
  readonly signature: string | undefined;
  readonly body: Uint8Array;
  /** As the receiver has them, with whatever is wrong with them. */
  readonly secrets: readonly string[];
  /** When the delivery arrived, in Unix seconds. */
  readonly receivedAt: number;
  readonly toleranceSeconds: number;
  /** The `Content-Length` it came with, where that is known. */
  readonly contentLength?: number | undefined;
}

export interface Diagnosis {
  /** Whether a receiver with these secrets, these bytes and this clock accepts the delivery. */
  readonly verifies: boolean;
  /** Which secret fits, counted from 1. */
  readonly secret: number | undefined;
  readonly signedAt: string | undefined;
  /** How far `t` is from the arrival: negative when it was signed before it. */
  readonly clockOffsetSeconds: number | undefined;
  /** What is wrong, the surest first. */
  readonly findings: readonly Finding[];
}

/** Says whether a captured delivery verifies and, if not, why. Nothing in the result can be used to sign. */
export function diagnose(captured: Captured): Diagnosis {
  const nothing = { verifies: false, secret: undefined, signedAt: undefined, clockOffsetSeconds: undefined };
  if (!captured.signature) return { ...nothing, findings: [explain('header_missing')] };
  const header = readHeader(captured.signature);
  const findings = headerFindings(header);
  if (findings.length > 0) return { ...nothing, findings };
  const match = search(header, captured);
  if (match) {
    for (const { code, detail } of match.faults) {
      findings.push(explain(code, code === 'body_reserialised' ? reserialised(detail, captured.body) : detail));
    }
  } else {
    findings.push(...unmatched(header, captured));
  }
  const seconds = toSeconds(header.t as string);
  const offset = Math.round(seconds - captured.receivedAt);
  if (seconds !== Number(header.t) && !findings.some((one) => one.code === 'timestamp_milliseconds')) {
    findings.push(explain('timestamp_milliseconds'));
  }
  if (match && Math.abs(offset) > captured.toleranceSeconds) {
    findings.push(explain(offset < 0 ? 'timestamp_old' : 'timestamp_future', duration(Math.abs(offset))));
  }
  return {
    verifies: findings.length === 0,
    secret: match && match.secret + 1,
    signedAt: Number.isFinite(seconds) && seconds < 8.64e12 ? new Date(seconds * 1000).toISOString() : undefined,
    clockOffsetSeconds: offset,
    findings,
  };
}

interface Match {
  readonly secret: number;
  readonly faults: readonly Variant<unknown>[];
}

/** Looks for the combination with the fewest faults under which one of the digests holds. */
function search({ t, v1 }: ReadHeader, { body, secrets }: Captured): Match | undefined {
  const digests = digestVariants(v1);
  const prefixes = prefixVariants(t as string);
  const keys = secrets.flatMap((text, secret) => keyVariants(text).map((variant) => ({ secret, variant })));
  const bodies = bodyVariants(body);
  const isFault = ({ code }: Variant<unknown>): boolean => code !== 'none';
  for (let most = 0; most <= 3; most++) {
    for (const one of bodies) {
      for (const prefix of prefixes) {
        for (const { secret, variant } of keys) {
          const faults: Variant<unknown>[] = [variant, one, prefix].filter(isFault);
          // The digest's own spelling may add one more; fewer faults have been tried in an earlier round.
          if (faults.length !== most && faults.length !== most - 1) continue;
          const digest = createHmac('sha256', variant.value).update(prefix.value).update(one.value).digest('hex');
          const found = digests.find((given) => given.value === digest);
          if (!found) continue;
          const all = [...faults, found].filter(isFault);
          if (all.length === most) return { secret, faults: all };
        }
      }
    }
  }
  return undefined;
}

function headerFindings({ t, v1, repeatedT, others }: ReadHeader): Finding[] {
  if (t === undefined && v1.length === 0) return [explain('header_unreadable')];
  if (t === undefined) return [explain('header_no_t')];
  if (v1.length === 0) return [explain('header_no_v1', others.length > 0 ? others.join(', ') : undefined)];
  if (repeatedT) return [explain('header_two_t')];
  if (!/^\d{1,16}$/.test(t)) return [explain('header_bad_t')];
  if (digestVariants(v1).length === 0) return [explain('header_bad_v1')];
  return [];
}

/** Nothing fits: say what is known, and which side is the likelier culprit. */
function unmatched(_header: ReadHeader, { body, contentLength, secrets }: Captured): Finding[] {
  const text = Buffer.from(body).toString('utf8');
  if (body.length === 0) return [explain('body_empty')];
  if (contentLength !== undefined && contentLength > body.length) {
    return [explain('body_truncated', `${body.length} of ${contentLength} bytes are here`)];
  }
  const json = readJson(text.replace(/^\uFEFF/, ''));
  if (json.kind === 'broken' && json.cut)
    return [explain('body_truncated', `the JSON ends early, at byte ${body.length}`)];
  if (json.kind === 'broken') return [explain('body_not_json')];
  if (text.includes('\uFFFD')) return [explain('body_replaced')];
  const form = formOf(body);
  return form?.includes('what Factuarea writes')
    ? [explain('secret_wrong', secrets.length > 1 ? `none of the ${secrets.length} secrets fits` : undefined)]
    : [explain('no_match', form)];
}

function reserialised(signed: string | undefined, body: Uint8Array): string {
  const now = formOf(body);
  return `the signature fits ${signed}${now ? `; the body given is written as ${now} writes it` : ''}`;
}

function toSeconds(t: string): number {
  const value = Number(t);
  if (t.length >= 16) return Math.floor(value / 1e6);
  return t.length >= 13 ? Math.floor(value / 1000) : value;
}

/** A time span for people: its two largest units. */
export function duration(seconds: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ] as const;
  const parts: string[] = [];
  let rest = Math.round(seconds);
  for (const [name, size] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${name}`);
  }
  return parts.slice(0, 2).join(' ') || '0 s';
}
