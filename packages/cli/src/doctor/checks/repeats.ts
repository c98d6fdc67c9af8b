import { uuidV7 } from '@factuarea-webhook/testing';
import { accepted, type Check, effectOf, type Found, HANDLED_TOO_OFTEN, settledCount, times, told } from '../check.ts';
import { fateOf } from '../fate.ts';
import type { Event, How, Kit } from '../kit.ts';
import type { Reply } from '../wire.ts';
import { accountEnvelope } from './payloads.ts';

const group = 'Repeats';
const byId = 'Claim the id of the signed body, in a store with a unique key, before the work. Answer 200 to a repeat.';
const notHeaders = 'Take the key from the id in the signed body. No header is signed, so anybody can choose it.';

/** Delivers an event, then a copy of it, and judges the copy's answer and how often the event was handled. */
function repeat(id: string, title: string, sent: string, fix: string, copy: (event: Event) => [Event, How]): Check {
  return {
    id,
    group,
    title,
    fix,
    async run(kit) {
      const event = kit.event();
      const first = await kit.deliver(event);
      if (fateOf(first).kind !== 'delivered') return accepted(first, sent);
      const [again, how] = copy(event);
      // A copy may be told to come again while the first one's claim is still held.
      const second = await kit.persist(again, await kit.deliver(again, how));
      const found = accepted(second, sent);
      if (found.state === 'fail') return { ...found, got: `the copy: ${found.got}` };
      return effectOf(kit, event, 1, title, found);
    },
  };
}

export const repeatChecks: readonly Check[] = [
  repeat('repeat', 'A retry of a handled event is answered 2xx', 'an event twice, as a retry', byId, (event) => [
    event,
    {},
  ]),
  repeat(
    'replay',
    'A replay with another delivery id is the same event',
    'an event twice, with two delivery ids',
    'Take the key from the body’s id. The delivery id is new with every delivery.',
    (event) => [event, { deliveryId: uuidV7() }],
  ),
  repeat(
    'account-copy',
    'The account endpoint’s copy is the same event',
    'an event, then its copy in the account endpoint’s envelope',
    'Take the key from the body’s id. The bodies of two copies differ, and so do their signatures.',
    (event) => [{ ...accountEnvelope(event), id: event.id, type: event.type }, { deliveryId: uuidV7() }],
  ),
  repeat(
    'forged-headers',
    'Changed headers do not make it another event',
    'an event twice, the second time with other ids in its headers',
    notHeaders,
    (event) => [event, { headers: { 'Factuarea-Event-Id': uuidV7(), 'Idempotency-Key': uuidV7() } }],
  ),
  {
    id: 'shared-headers',
    group,
    title: 'Equal headers do not make two events one',
    fix: notHeaders,
    needs: ['handled'],
    async run(kit) {
      const one = kit.event();
      await kit.deliver(one);
      const headers = { 'Factuarea-Event-Id': one.id, 'Idempotency-Key': one.id };
      const other = kit.event();
      const reply = await kit.deliver(other, { headers });
      const sent = 'two events, the second with the first one’s ids in its headers';
      return effectOf(kit, other, 1, this.title, accepted(reply, sent));
    },
  },
  {
    id: 'one-operation',
    group,
    title: 'Two events of one operation are two events',
    fix: 'Take the key from the body’s id. correlation_id and the invoice’s id are shared by several events.',
    needs: ['handled'],
    async run(kit) {
      const one = kit.event({ correlation_id: uuidV7() });
      await kit.deliver(one);
      const other: Event = { ...one, id: uuidV7() };
      const reply = await kit.deliver(other);
      const sent = 'two events with one correlation_id about one resource';
      return effectOf(kit, other, 1, this.title, accepted(reply, sent));
    },
  },
  {
    id: 'case-of-ids',
    group,
    title: 'Ids that differ in case are two events',
    fix: 'Compare ids byte by byte: in MySQL, give the column a binary collation.',
    needs: ['handled'],
    async run(kit) {
      const one = kit.event({ id: uuidV7().replace(/.$/, 'a') });
      await kit.deliver(one);
      const other: Event = { ...one, id: one.id.toUpperCase() };
      const reply = await kit.deliver(other);
      const sent = 'two events whose ids differ in case only';
      const found = await effectOf(kit, other, 1, this.title, accepted(reply, sent));
      // Factuarea's own ids are all lower case, so this cannot lose an event today.
      return found.state === 'fail' ? { ...found, state: 'warn' } : found;
    },
  },
  {
    id: 'concurrent-copies',
    group,
    title: 'Copies that arrive at the same moment are one event, and none is closed by an error',
    fix: 'Claim the id before the work. While another copy is at work, answer 503, never 409: a 4xx closes the delivery.',
    async run(kit) {
      const sent = 'six copies of one event, completed at the same moment';
      let worst: Found | undefined;
      // With a slow handler one round is enough; otherwise some rounds give the copies a chance to overlap.
      const rounds = kit.subject.slow === undefined ? 5 : 1;
      for (let round = 0; round < rounds && !worst; round++) {
        const event = kit.special(kit.subject.slow);
        const replies = await together(kit, event, 6);
        worst = judgeCopies(replies, sent) ?? (await finish(kit, event, replies, sent));
      }
      return (
        worst ?? {
          state: 'pass',
          sent,
          got: '2xx, or a status that is tried again',
          whatFactuareaDoes: 'All end well.',
        }
      );
    },
  },
  {
    id: 'early-repeat',
    group,
    title: 'No copy is answered 2xx while the first is still at work',
    fix: 'Answer 503 while another copy is at work. If the first fails after the other got its 2xx, the event is lost.',
    needs: ['handled', 'slow'],
    async run(kit) {
      const sent = 'six copies of a slow event at once, and a look at the list at the first 2xx';
      const event = kit.special(kit.subject.slow);
      let early: Reply | undefined;
      const look = async (reply: Reply): Promise<void> => {
        if (fateOf(reply).kind !== 'delivered') return;
        if ((await kit.handled?.count(event.id)) === 0) early ??= reply;
      };
      await together(kit, event, 6, look);
      const common = { sent, got: early ? `${told(early)}, but not handled yet` : 'no 2xx before the work was done' };
      return early
        ? { ...common, state: 'fail', whatFactuareaDoes: 'Delivered. If the first copy then fails, the event is lost.' }
        : { ...common, state: 'pass', whatFactuareaDoes: 'A copy that was told to wait is sent again.' };
    },
  },
  {
    id: 'burst',
    group,
    title: 'Thirty events at once are all taken',
    fix: 'Give the database pool and the web server room, and answer 503 (not 4xx) where it is too much.',
    async run(kit) {
      const sent = 'thirty different events at the same moment';
      const events = Array.from({ length: 30 }, () => kit.event());
      const { gate, open } = makeGate();
      const sending = events.map((event) => kit.deliver(event, { hold: gate }));
      open();
      const replies = await Promise.all(sending);
      const last = await Promise.all(events.map((event, at) => kit.persist(event, replies[at] as Reply)));
      const bad = last.find((reply) => fateOf(reply).kind !== 'delivered');
      if (bad) return accepted(bad, sent);
      for (const event of events) {
        if (!kit.handled) break;
        const counted = await settledCount(kit, event, 1);
        kit.expectRuns(event, Math.max(counted, 1), this.title);
        if (counted !== 1) return miscounted(sent, counted);
      }
      return { state: 'pass', sent, got: '2xx to all', whatFactuareaDoes: 'Delivered.' };
    },
  },
];

function makeGate(): { gate: Promise<void>; open: () => void } {
  let open: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    // The connections need a moment to stand, so that the last bytes leave together.
    open = () => setTimeout(resolve, 60);
  });
  return { gate, open };
}

async function together(kit: Kit, event: Event, copies: number, seen?: (reply: Reply) => unknown): Promise<Reply[]> {
  const { gate, open } = makeGate();
  const sending = Array.from({ length: copies }, async () => {
    const reply = await kit.deliver(event, { hold: gate, deliveryId: uuidV7() });
    await seen?.(reply);
    return reply;
  });
  open();
  return Promise.all(sending);
}

function judgeCopies(replies: readonly Reply[], sent: string): Found | undefined {
  const closed = replies.find((reply) => fateOf(reply).kind === 'failed_permanently');
  if (!closed) return undefined;
  return {
    state: 'fail',
    sent,
    got: `a copy: ${told(closed)}`,
    whatFactuareaDoes: `${fateOf(closed).text} If the first copy then fails, the event is lost at this endpoint.`,
  };
}

/** The copies that were told to wait come again and must end in a 2xx, with one run in all. */
async function finish(kit: Kit, event: Event, replies: readonly Reply[], sent: string): Promise<Found | undefined> {
  const told503 = replies.find((reply) => fateOf(reply).kind !== 'delivered');
  if (told503) {
    const last = await kit.persist(event, told503);
    if (fateOf(last).kind !== 'delivered') return accepted(last, `${sent}, then one of them again`);
  }
  if (!kit.handled) return undefined;
  const counted = await settledCount(kit, event, 1);
  kit.expectRuns(event, Math.max(counted, 1), 'Copies that arrive at the same moment');
  return counted === 1 ? undefined : miscounted(sent, counted);
}

function miscounted(sent: string, counted: number): Found {
  return {
    state: 'fail',
    sent,
    got: `2xx, but handled ${times(counted)} instead of once`,
    whatFactuareaDoes: counted === 0 ? 'Delivered, so it is not sent again: the event is lost.' : HANDLED_TOO_OFTEN,
  };
}
