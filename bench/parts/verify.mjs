import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { signDelivery, verifySignature } from '@factuarea-webhook/core';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { alternate } from '../compare.mjs';
import { compared } from '../figures.mjs';

export const title = 'Verifying one delivery';

export const method = `\`verifySignature\` and \`JSON.parse\`, in processor time, against Stripe's \`constructEvent\`, \`standardwebhooks\` and
\`svix\`, each with its own kind of header over the same body and with its own parse. The *floor* is what no receiver can
do without: one HMAC over the bytes, one comparison in constant time, one \`JSON.parse\`. It checks no clock and reads no
header that differs from the expected one by a blank.`;

const secret = `whsec_${randomBytes(24).toString('base64url')}`;
// Standard Webhooks and Svix take the part after the prefix as base64.
const base64Secret = `whsec_${randomBytes(24).toString('base64')}`;

export async function run({ quick, figure }) {
  for (const [label, size] of Object.entries({ '200b': 200, '2kb': 2048, '20kb': 20_480, '300kb': 307_200 })) {
    const times = await alternate(await contenders(bodyOf(size)), {
      rounds: quick ? 9 : 31,
      msPerRound: quick ? 20 : 50,
      clock: 'processor',
    });
    for (const rival of Object.keys(times).filter((name) => name !== 'ours')) {
      figure({
        id: `verify-${label}-vs-${rival}`,
        ...compared(times.ours, times[rival]),
        better: 'lower',
        goal: goals[`${label}-${rival}`],
        unit: 'ns a delivery',
      });
    }
  }
}

const goals = { '2kb-floor': 1.1 };

async function contenders(body) {
  const text = body.toString();
  const signature = await signDelivery({ body, secret });
  const timestamp = Math.floor(Date.now() / 1000);
  const stripe = new Stripe('sk_test_bench');
  const stripeHeader = Stripe.webhooks?.generateTestHeaderString
    ? Stripe.webhooks.generateTestHeaderString({ payload: text, secret })
    : stripe.webhooks.generateTestHeaderString({ payload: text, secret });
  const standard = new StandardWebhook(base64Secret);
  const svix = new SvixWebhook(base64Secret);
  const headersOf = (prefix, value) => ({
    [`${prefix}-id`]: 'msg_1',
    [`${prefix}-timestamp`]: String(timestamp),
    [`${prefix}-signature`]: value,
  });
  const standardHeaders = headersOf('webhook', standard.sign('msg_1', new Date(timestamp * 1000), text));
  const svixHeaders = headersOf('svix', svix.sign('msg_1', new Date(timestamp * 1000), text));

  return {
    async ours() {
      const result = await verifySignature({ signature, body, secret });
      if (!result.ok) throw new Error(result.reason);
      return JSON.parse(body.toString());
    },
    // The least that any receiver does: one HMAC over the bytes, one comparison, one parse.
    floor() {
      const [t, v1] = signature.split(',');
      const expected = createHmac('sha256', secret)
        .update(`${t.slice(2)}.`)
        .update(body)
        .digest();
      if (!timingSafeEqual(expected, Buffer.from(v1.slice(3), 'hex'))) throw new Error('mismatch');
      return JSON.parse(body.toString());
    },
    stripe: () => stripe.webhooks.constructEvent(body, stripeHeader, secret),
    standardwebhooks: () => standard.verify(body.toString(), standardHeaders),
    svix: () => svix.verify(body.toString(), svixHeaders),
  };
}

/** An event with a whole resource, as Factuarea encodes it: non-ASCII escaped. */
function bodyOf(size) {
  const event = {
    id: '0199c2f0-5b1e-7c3a-9d57-2f4a1b6c8d90',
    type: 'invoice.sent',
    api_version: '2026-09-23',
    created: 1767225600,
    data: { type: 'invoice.sent', object: { object: 'invoice', id: '0199', lines: [] } },
  };
  const line = { description: 'Servicios de asesoría', quantity: '1.00', unit_price: '121.00', total: '146.41' };
  while (JSON.stringify(event).length < size - 60) event.data.object.lines.push(line);
  return Buffer.from(JSON.stringify(event).replaceAll('í', '\\u00ed'));
}
