import { phpJson } from '@factuarea-webhook/testing';

/** One delivery as it was sent, and the status that it must be answered with. */
export interface Recorded {
  readonly name: string;
  readonly route: 'webhook' | 'middleware';
  readonly body: string;
  readonly signed: 'company' | 'account' | 'both' | 'wrong' | 'stale' | 'not at all';
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
}

const routes = ['webhook', 'middleware'] as const;

/** Twenty deliveries, recorded at each of an example's two routes. */
export const recorded: readonly Recorded[] = routes.flatMap((route, at) => {
  const id = (n: number): string => `0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4${at}${String(n).padStart(2, '0')}`;
  const invoice = (n: number, more = ''): object => ({ object: 'invoice', id: `inv-${at}${n}${more}`, total: 1210 });
  const company = (n: number, data: object, type = 'invoice.sent'): string =>
    phpJson({
      id: id(n),
      type,
      api_version: '2026-09-23',
      created: 1767225600,
      livemode: true,
      test: false,
      correlation_id: null,
      data,
    });
  const account = (n: number, data: object): string =>
    phpJson({
      ...JSON.parse(company(n, data)),
      account: { id: 'acc-1' },
      account_relationship: 'managed',
      company_id: 'com-1',
    });
  const whole = (n: number, more?: string): object => ({ type: 'invoice.sent', object: invoice(n, more) });
  const one = (
    name: string,
    body: string,
    status: number,
    signed: Recorded['signed'] = 'company',
    headers: Recorded['headers'] = {},
  ): Recorded => ({ name, route, body, signed, headers, status });
  return [
    one('the company endpoint’s envelope', company(1, whole(1)), 200),
    one('the same again', company(1, whole(1)), 200),
    one('the account endpoint’s copy of it', account(1, whole(1)), 200, 'account'),
    one('an event of the account endpoint', account(2, whole(2)), 200, 'account'),
    one('a thin reference', company(3, { invoice: { id: `inv-${at}3` } }), 200),
    one(
      'the oldest shape, with text outside ASCII',
      company(
        4,
        { type: 'invoice.paid', invoice: { uuid: `inv-${at}4`, amount: 121, name: 'Peña 😀' } },
        'invoice.paid',
      ),
      200,
    ),
    one('a type that nobody knows', company(5, { thing: { id: 'thing-1' } }, 'thing.happened'), 200),
    one('a ping', company(6, {}, 'webhook.ping'), 200),
    one('a handler that fails', company(7, whole(7, '-fail-once')), 500),
    one('its retry', company(7, whole(7, '-fail-once')), 200),
    one('a handler that gives up', company(8, whole(8, '-never')), 422),
    one('both secrets during a rotation', company(9, whole(9)), 200, 'both'),
    one('another secret', company(10, whole(10)), 401, 'wrong'),
    one('an old signature', company(11, whole(11)), 401, 'stale'),
    one('no signature', company(12, whole(12)), 401, 'not at all'),
    one('no JSON', 'not json', 400),
    one('no id', phpJson({ type: 'invoice.sent', data: {} }), 400),
    one('compressed, it says', company(13, whole(13)), 415, 'company', { 'content-encoding': 'gzip' }),
    one('over the limit', company(14, { ...whole(14), more: 'x'.repeat(1_048_576) }), 413),
    one('a content type of its own', company(15, whole(15)), 200, 'company', {
      'content-type': 'application/vnd.factuarea+json',
    }),
  ];
});
