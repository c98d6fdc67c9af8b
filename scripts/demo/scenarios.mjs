import { setTimeout as pause } from 'node:timers/promises';
import {
  accountDelivery,
  companyDelivery,
  deliver,
  ping,
  redelivery,
  twinsOf,
  uuidV7,
} from '@factuarea-webhook/testing';

/**
 * What the demo plays. Each scenario sends, waits until Factuarea would be content, and gives a row: what was sent,
 * what was to come back, and how often the handler was to have its effect.
 *
 * @typedef {{ sent: string, answers: string[], separator?: string, expected: RegExp, id?: string, effects?: number }} Row
 */

/** @param {{ app: import('./app.mjs').App, sender: import('@factuarea-webhook/testing').FactuareaSender, secrets: Record<string, string> }} stage */
export function scenarios({ app, sender, secrets }) {
  const url = () => `${app.url}/factuarea/webhook`;
  const invoice = (behaviour = '') => ({ resourceId: `${uuidV7()}${behaviour}` });
  /** Sends at one endpoint and waits until nothing more would be tried. */
  const play = async (endpoint, delivery) => {
    const sent = sender.send(endpoint, delivery);
    await sent.finished;
    return sent.attempts.map(answerOf);
  };
  const once = async (delivery, secret, how = {}) => answerOf(await deliver(url(), delivery, { secret, ...how }));

  let first = twinsOf('invoice.sent');

  return {
    crash: async () => {
      const delivery = companyDelivery('invoice.paid', invoice('-slow-500'));
      const sent = sender.send('company', delivery);
      await pause(250);
      await app.kill();
      await app.start();
      await sent.finished;
      return {
        sent: 'invoice.paid; the process is killed (SIGKILL) in mid handler and started again',
        answers: sent.attempts.map(answerOf),
        // The first attempt dies with the process. A store with leases puts retries off until the dead process's has run
        // out; a database has rolled its transaction back by then.
        expected: /^no answer( → no answer)*( → 503 in_progress)* → 200 handled$/,
        id: delivery.event.id,
        effects: 1,
      };
    },

    calm: [
      async () => {
        first = twinsOf('invoice.sent', invoice('-slow-100'));
        const answers = await Promise.all([play('company', first.company), play('account', first.account)]);
        return {
          sent: 'invoice.sent, at the company’s and the account’s endpoint at the same moment',
          answers: answers.map((one) => one.join(' → ')).sort(),
          separator: ' ‖ ',
          expected: /^200 handled ‖ 503 in_progress → 200 repeat$/,
          id: first.company.event.id,
          effects: 1,
        };
      },
      async () => {
        const delivery = companyDelivery('invoice.created', invoice('-fail-once'));
        return {
          sent: 'invoice.created; the handler fails the first time',
          answers: await play('company', delivery),
          expected: /^500 handler_failed → 200 handled$/,
          id: delivery.event.id,
          effects: 1,
        };
      },
      async () => {
        const delivery = accountDelivery('invoice.updated', invoice('-slow-1100'));
        return {
          sent: 'invoice.updated; the handler is slower than the sender’s limit of 1 s',
          answers: await play('account', delivery),
          expected: /^503 deadline_exceeded( → 503 in_progress)* → 200 repeat$/,
          id: delivery.event.id,
          effects: 1,
        };
      },
      async () => {
        const delivery = companyDelivery('invoice.deleted', invoice('-never'));
        return {
          sent: 'invoice.deleted; the handler throws PermanentFailure',
          answers: await play('company', delivery),
          expected: /^422 permanent_failure$/,
          id: delivery.event.id,
          effects: 0,
        };
      },
      async () => {
        const delivery = companyDelivery('invoice.paid');
        const headers = await delivery.headers(secrets.company);
        const body = Buffer.from(delivery.body).toString().replace('"livemode":false', '"livemode":true');
        const response = await fetch(url(), { method: 'POST', headers, body });
        return {
          sent: 'invoice.paid with a value changed on the way',
          answers: [`${response.status} ${(await response.json()).code}`],
          expected: /^401 invalid_signature$/,
          id: delivery.event.id,
          effects: 0,
        };
      },
      async () => {
        const delivery = companyDelivery('invoice.paid');
        const timestamp = Math.floor(Date.now() / 1000) - 301;
        return {
          sent: 'invoice.paid, signed 301 s ago',
          answers: [await once(delivery, secrets.company, { timestamp })],
          expected: /^401 invalid_signature$/,
          id: delivery.event.id,
          effects: 0,
        };
      },
      async () => {
        const delivery = companyDelivery('client.updated');
        return {
          sent: 'client.updated during a rotation: two v1, the app knows the older secret',
          answers: [await once(delivery, [secrets.companyNext, secrets.company])],
          expected: /^200 handled$/,
          id: delivery.event.id,
          effects: 1,
        };
      },
      async () => {
        const delivery = companyDelivery('hologram.projected');
        return {
          sent: 'hologram.projected, a type that nobody knows yet',
          answers: await play('company', delivery),
          expected: /^200 handled$/,
          id: delivery.event.id,
          effects: 1,
        };
      },
      async () => ({
        sent: 'webhook.ping',
        answers: await play('company', ping()),
        expected: /^200 pong$/,
      }),
      async () => {
        const delivery = companyDelivery('payment.received');
        const at = { secret: secrets.company };
        const middleware = `${app.url}/factuarea/middleware`;
        const one = await deliver(middleware, delivery, at);
        const two = await deliver(middleware, redelivery(delivery), at);
        return {
          sent: 'payment.received, twice, at a route behind the middleware',
          answers: [`${one.status} from the route`, answerOf(two)],
          expected: /^200 from the route → 200 repeat$/,
          id: delivery.event.id,
          effects: 1,
        };
      },
    ],

    afterRestart: async () => {
      await app.kill();
      await app.start();
      return {
        sent: 'the first invoice.sent once more, after one more kill and restart',
        answers: [await once(redelivery(first.account), secrets.account)],
        expected: /^200 repeat$/,
        id: first.company.event.id,
        effects: 1,
      };
    },
  };
}

function answerOf({ status, body }) {
  if (status === undefined) return 'no answer';
  return `${status} ${JSON.parse(body).code}`;
}
