import { FactuareaWebhookError } from '@factuarea-webhook/core';
import type { FactuareaDelivery } from './delivery.ts';
import { socketTransport, type Transport } from './transport.ts';

/** What Factuarea does after an attempt. */
export type Verdict = 'delivered' | 'retry' | 'failed_permanently';

/** One attempt and what came of it. */
export interface DeliveryAttempt {
  /** Undefined where no answer came in time. */
  readonly status: number | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly durationMs: number;
  readonly verdict: Verdict;
  /** `t` of the signature, in Unix seconds. */
  readonly timestamp: number;
  /** Why there is no answer. */
  readonly error: string | undefined;
}

/** Options of `deliver`. */
export interface DeliverOptions {
  /** The endpoint's secret, or the new and the previous one as during a rotation. */
  readonly secret: string | readonly string[];
  /** `t` of the signature, in Unix seconds. Default: now. */
  readonly timestamp?: number;
  /** The endpoint's time limit, 1–30 seconds. Default 10. */
  readonly timeoutSeconds?: number;
  /** Default: over a socket, which is closed afterwards. */
  readonly transport?: Transport;
}

/**
 * What Factuarea does after an answer with this status; `undefined` means that no answer came in time.
 *
 * Redirects are not followed and count as a failure. Whether Factuarea tries again after one is documented nowhere, so
 * this takes the worse for a receiver: it does not.
 *
 * @example
 * ```ts
 * verdictOf(503); // 'retry'
 * verdictOf(409); // 'failed_permanently'
 * ```
 */
export function verdictOf(status: number | undefined): Verdict {
  if (status === undefined || status >= 500 || [408, 425, 429].includes(status)) return 'retry';
  return status >= 200 && status <= 299 ? 'delivered' : 'failed_permanently';
}

/**
 * Sends one signed attempt of a delivery and says what Factuarea would do next. A receiver that does not answer is a
 * result, not an exception.
 *
 * @throws `config_error` where an option is unusable.
 * @example
 * ```ts
 * const attempt = await deliver('http://localhost:3000/factuarea/webhook', companyDelivery('invoice.sent'), {
 *   secret: 'whsec_…',
 * });
 * attempt.verdict; // 'delivered'
 * ```
 */
export async function deliver(
  url: string,
  delivery: FactuareaDelivery,
  options: DeliverOptions,
): Promise<DeliveryAttempt> {
  const { secret, timestamp = Math.floor(Date.now() / 1000) } = options;
  const limit = checkTimeout(options.timeoutSeconds);
  if (!URL.canParse(url)) throw new FactuareaWebhookError('config_error', 'The endpoint’s `url` is not a whole URL.');
  const headers = await delivery.headers(secret, timestamp);
  const own = options.transport ? undefined : socketTransport();
  const transport = options.transport ?? (own as Transport);
  const startedAt = performance.now();
  const took = (): number => performance.now() - startedAt;
  try {
    const signal = AbortSignal.timeout(limit * 1000);
    const answer = await transport({ url, headers, body: delivery.body, signal });
    return { ...answer, durationMs: took(), verdict: verdictOf(answer.status), timestamp, error: undefined };
  } catch (error) {
    return { ...none, durationMs: took(), verdict: verdictOf(undefined), timestamp, error: reasonOf(error, limit) };
  } finally {
    own?.close();
  }
}

const none = { status: undefined, headers: {}, body: '' } as const;

/** @throws `config_error` outside what Factuarea lets an endpoint set. */
export function checkTimeout(seconds = 10): number {
  if (seconds >= 1 && seconds <= 30) return seconds;
  throw new FactuareaWebhookError('config_error', '`timeoutSeconds` must be a number from 1 to 30.');
}

function reasonOf(error: unknown, limit: number): string {
  const { name, code, message } = (error ?? {}) as { name?: string; code?: unknown; message?: string };
  if (name === 'TimeoutError' || name === 'AbortError') return `no answer within ${limit} s`;
  // A connection refused on both of a name's addresses has no message of its own.
  return message || String(code ?? error);
}
