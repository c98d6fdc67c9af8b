import { type Wanted, wantedText } from '../../play/wanted.ts';
import { accepted, type Check, effectOf, type Found, settledCount, told } from '../check.ts';
import { fateOf } from '../fate.ts';

const group = 'Failures';

export const failureChecks: readonly Check[] = [
  {
    id: 'failure-retryable',
    group,
    title: 'A failed handler is answered with a status that is tried again',
    fix: 'Answer 500 when the handler throws: not 200, which closes the delivery, and no 4xx, which ends the retries.',
    needs: ['fails'],
    async run(kit) {
      const sent = `${wantedText(kit.subject.fails as Wanted)}, whose handler fails at first`;
      const event = kit.special(kit.subject.fails);
      const reply = await kit.deliver(event);
      const { kind, text } = fateOf(reply);
      const common = { sent, got: told(reply) };
      if (kind === 'retry') return { ...common, state: reply.status ? 'pass' : 'warn', whatFactuareaDoes: text };
      const lost = kind === 'delivered' ? 'Delivered, so it is not sent again: the event is lost.' : text;
      return { ...common, state: 'fail', whatFactuareaDoes: lost };
    },
  },
  {
    id: 'retry-after-failure',
    group,
    title: 'The retry after a failure runs the handler again',
    fix: 'Mark the id when the handler has succeeded, not before: best in one transaction with its own writes.',
    needs: ['fails', 'handled'],
    async run(kit) {
      const sent = `${wantedText(kit.subject.fails as Wanted)}, until it is accepted`;
      const event = kit.special(kit.subject.fails);
      const first = await kit.deliver(event);
      if (fateOf(first).kind !== 'retry') {
        const got = `${told(first)}: no retry would come`;
        return { state: 'not-tested', sent, got, whatFactuareaDoes: fateOf(first).text };
      }
      const last = await kit.persist(event, first);
      return effectOf(kit, event, 1, this.title, accepted(last, sent));
    },
  },
  {
    id: 'answer-after-work',
    group,
    title: 'The answer comes after the work',
    fix: 'Wait for the handler before you answer 2xx. What fails after the answer is lost, unless a queue has it safe.',
    needs: ['handled'],
    async run(kit) {
      const { slow } = kit.subject;
      const sent = `${slow ? wantedText(slow) : 'an event'}, and a look at the list right after the answer`;
      const event = kit.special(slow);
      const reply = await kit.deliver(event);
      const found = accepted(reply, sent);
      // A handler slower than the receiver's deadline: what is not acknowledged is sent again, so nothing is lost.
      if (slow && fateOf(reply).kind === 'retry') {
        return { ...found, state: 'pass', got: `${told(reply)}; not acknowledged before its work is done` };
      }
      if (found.state === 'fail') return found;
      kit.expectRuns(event, 1, this.title);
      const atOnce = (await kit.handled?.count(event.id)) ?? 0;
      if (atOnce > 0) return { ...found, got: `${told(reply)}; already handled` };
      const later = await settledCount(kit, event, 1);
      const got = `${told(reply)}; not handled yet${later > 0 ? ', but a moment later' : ', nor two seconds later'}`;
      const lost: Found = { ...found, state: 'fail', got };
      return { ...lost, whatFactuareaDoes: 'Delivered, so it is not sent again: what fails after the answer is lost.' };
    },
  },
];
