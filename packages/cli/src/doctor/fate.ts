import { type Verdict, verdictOf } from '@factuarea-webhook/testing';
import type { Reply } from './wire.ts';

/** What Factuarea does after an answer. */
export interface Fate {
  readonly kind: Verdict;
  readonly text: string;
}

const texts: Readonly<Record<Verdict, string>> = {
  delivered: 'Delivered. It is closed for good.',
  retry: 'Tried again: eight attempts over about five days.',
  failed_permanently: 'Failed permanently, no retry. A hundred of these in a day suspend the endpoint.',
};

export function fateOf({ status }: Pick<Reply, 'status'>): Fate {
  const kind = verdictOf(status);
  const redirected = status !== undefined && status >= 300 && status <= 399;
  return { kind, text: redirected ? 'Not followed: counts as a failure.' : texts[kind] };
}
