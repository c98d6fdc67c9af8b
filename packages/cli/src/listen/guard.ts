import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';

/**
 * Says who may look at the captured deliveries. They are invoices, so a web page elsewhere, a tunnel's visitors and
 * other users of the machine may not.
 */
export interface Guard {
  /** Known to whoever started the command: it is in the link that was printed. */
  readonly key: string;
  /** Why a request for the page is refused, or undefined. */
  refusesPage(request: IncomingMessage): string | undefined;
  /** Why a request for the data is refused, or undefined. */
  refusesData(request: IncomingMessage, key: string | null | undefined): string | undefined;
  /** Why a request that changes something is refused, or undefined. */
  refusesChange(request: IncomingMessage): string | undefined;
}

export function makeGuard(boundHost: string): Guard {
  const key = randomBytes(16).toString('base64url');

  function refusesPage({ headers }: IncomingMessage): string | undefined {
    // A name that an attacker's DNS points here arrives with that name. An address cannot be rebound.
    const host = hostOf(headers.host);
    if (!['localhost', boundHost.toLowerCase(), hostname().toLowerCase()].includes(host) && !isIP(host)) {
      return 'This page is for this machine. Open the link that the command has printed.';
    }
    // Tunnels can rewrite Host, and say so in these.
    if (headers['x-forwarded-for'] || headers['x-forwarded-host'] || headers['forwarded']) {
      return 'This page is not shown through a proxy or a tunnel.';
    }
    return undefined;
  }

  function refusesData(request: IncomingMessage, given: string | null | undefined): string | undefined {
    const refused = refusesPage(request);
    if (refused) return refused;
    return equal(given ?? '', key)
      ? undefined
      : 'The key is missing or wrong. Open the link that the command has printed.';
  }

  return {
    key,
    refusesPage,
    refusesData,
    refusesChange(request) {
      const { headers } = request;
      const refused = refusesData(request, headers['x-listen-key'] as string | undefined);
      if (refused) return refused;
      if (headers.origin !== `http://${headers.host}`) return 'The request does not come from this page.';
      // A form cannot send JSON, and another site's script would have to ask first.
      if (headers['content-type'] !== 'application/json') return 'The request is not JSON.';
      return undefined;
    },
  };
}

function hostOf(header: string | undefined): string {
  const url = `http://${header}`;
  return header !== undefined && URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '').toLowerCase() : '';
}

function equal(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
