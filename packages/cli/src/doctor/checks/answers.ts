import { accepted, accepts, type Check, type Found, told } from '../check.ts';
import { fateOf } from '../fate.ts';
import { CANARY } from '../kit.ts';

const group = 'Answers';

/** Runs first: while a proper delivery is not accepted, no other check can show anything. */
export const goodDelivery: Check = accepts(group, {
  id: 'good-delivery',
  title: 'A proper delivery is accepted',
  sent: 'a signed event, as Factuarea sends it',
  fix: 'Answer 200 once the event has been handled. Compare the secret, and see the receiver’s own log.',
});

export const answerChecks: readonly Check[] = [
  {
    id: 'https',
    group,
    title: 'The URL is https',
    fix: 'Give Factuarea an https URL: over http, anybody on the way reads the invoices.',
    async run({ subject: { url } }) {
      const local = /^(localhost|127\.|\[?::1|0\.0\.0\.0|host\.docker\.internal)/.test(url.hostname);
      const safe = url.protocol === 'https:';
      return {
        state: safe || local ? 'pass' : 'warn',
        sent: 'nothing: the URL was looked at',
        got: safe ? 'https' : local ? 'http on this machine, which is fine for a test' : 'http',
        whatFactuareaDoes: 'It delivers to the URL as it stands.',
      };
    },
  },
  {
    id: 'no-redirect',
    group,
    title: 'The URL does not redirect',
    fix: 'Register the final URL: look at the trailing slash, www and http → https.',
    async run(kit) {
      const event = kit.event();
      const reply = await kit.deliver(event);
      const { status = 0 } = reply;
      const redirects = status >= 300 && status <= 399;
      const sent = 'a signed event';
      if (!redirects) return { ...accepted(reply, sent), state: 'pass' };
      const to = reply.headers['location'];
      return { state: 'fail', sent, got: `${status} to ${to}`, whatFactuareaDoes: fateOf(reply).text };
    },
  },
  {
    id: 'answer-time',
    group,
    title: 'The answer comes well within the endpoint’s time limit',
    fix: 'Do less before the answer, or raise the endpoint’s timeout_seconds (up to 30).',
    async run(kit) {
      const sent = 'the slowest of all accepted deliveries so far';
      const slowest = Math.max(...kit.answers.map(({ reply }) => (fateOf(reply).kind === 'delivered' ? reply.ms : 0)));
      const limit = kit.subject.timeoutSeconds * 1000;
      return {
        state: slowest > limit / 2 ? 'warn' : 'pass',
        sent,
        got: `${slowest} ms, of ${limit} ms`,
        whatFactuareaDoes: 'An answer that comes too late counts as none: the event is sent again.',
      };
    },
  },
  accepts(group, {
    id: 'ping',
    title: 'webhook.ping is answered 2xx',
    sent: 'a signed webhook.ping',
    fix: 'Answer 200 to webhook.ping. It is sent when somebody presses “test” at the endpoint.',
    anyEffect: true,
    event: (kit) => kit.event({ type: 'webhook.ping', data: {} }),
  }),
  accepts(group, {
    id: 'unknown-type',
    title: 'An unknown event type is answered 2xx',
    sent: 'a signed event of a type that does not exist yet',
    fix: 'Answer 200 to types you do not handle: new ones appear without notice, and an error has them sent for days.',
    anyEffect: true,
    event: (kit) => kit.event({ type: 'doctor.made_up' }),
  }),
  {
    id: 'other-methods',
    group,
    title: 'Only POST delivers',
    fix: 'Answer 405 with Allow: POST to every other method.',
    async run(kit) {
      const sent = 'signed events by PUT, PATCH and DELETE';
      let got = '';
      for (const method of ['PUT', 'PATCH', 'DELETE']) {
        const event = kit.event();
        const reply = await kit.deliver(event, { method });
        kit.expectRuns(event, 0, this.title);
        const { status } = reply;
        got ||= told(reply);
        if (status === undefined || (status >= 400 && status <= 499) || status === 501) continue;
        return {
          state: 'warn',
          sent,
          got: `${method}: ${told(reply)}`,
          whatFactuareaDoes: 'Factuarea only ever sends POST.',
        };
      }
      return { state: 'pass', sent, got, whatFactuareaDoes: 'Factuarea only ever sends POST.' };
    },
  },
];

/** Runs near the end, over every answer that any check has seen. */
export const answerLeaks: Check = {
  id: 'answer-leaks',
  group,
  title: 'No answer gives away a secret, a digest, a stack or the payload',
  fix: 'Answer with a short code, and write the details to your own log.',
  async run({ answers }) {
    const sent = `all ${answers.length} deliveries`;
    const means = 'Keeps the beginning of every answer in the delivery history, where people read it.';
    const found = (state: Found['state'], got: string): Found => ({ state, sent, got, whatFactuareaDoes: means });
    for (const { reply, secretsOfIt } of answers) {
      const all = `${reply.body}\n${JSON.stringify(reply.headers)}`;
      if (secretsOfIt.some((one) => all.includes(one))) {
        return found('fail', `a ${reply.status} answer holds the secret, or a digest that signs`);
      }
    }
    for (const { reply } of answers) {
      if (/\n\s+at .+:\d+:\d+|Traceback \(most recent call last\)|#0 .+\.php/.test(reply.body)) {
        return found('warn', `a ${reply.status} answer holds a stack`);
      }
      if (reply.body.includes(CANARY)) return found('warn', `a ${reply.status} answer gives the payload back`);
    }
    return found('pass', 'nothing of the kind');
  },
};

/** Runs last: a second run may come after the answer that its own check has looked at. */
export const lateEffects: Check = {
  id: 'late-effects',
  group: 'Repeats',
  title: 'At the end, every event was handled as often as it should be',
  fix: 'Look for work that goes on after the answer: it must be claimed by the event’s id as well.',
  needs: ['handled'],
  async run(kit) {
    const sent = `${kit.expected.length} events in all`;
    for (const { event, runs, title } of kit.expected) {
      const counted = (await kit.handled?.count(event.id)) ?? 0;
      if (counted <= runs) continue;
      const got = `an event was handled ${counted} times instead of ${runs}, in “${title}”`;
      return { state: 'fail', sent, got, whatFactuareaDoes: 'It knows nothing of this: the answer was right.' };
    }
    return { state: 'pass', sent, got: 'as expected', whatFactuareaDoes: 'Nothing further.' };
  },
};
