import type { DeliveryAttempt } from '@factuarea-webhook/testing';

/** What Factuarea would do after a first attempt, in a sentence. */
export function nextStep({ verdict, status, error }: Pick<DeliveryAttempt, 'verdict' | 'status' | 'error'>): string {
  if (verdict === 'delivered') return 'Delivered: closed for good.';
  if (verdict === 'retry') {
    const why = status === undefined ? `${error ?? 'No answer'}: ` : '';
    return `${why}tried again in about a minute, then 5 min, 30 min, 2 h, 12 h, 1 day and 3 days.`;
  }
  if (status !== undefined && status >= 300 && status <= 399) return 'Failed: redirects are not followed.';
  return 'Failed permanently: not tried again. A hundred of these in a day suspend the endpoint.';
}
