import { fateOf } from './fate.ts';
import type { Event, How, Kit } from './kit.ts';
import type { Reply } from './wire.ts';

export type State = 'pass' | 'warn' | 'fail' | 'not-tested';

/** What a check found. */
export interface Found {
  readonly state: State;
  /** What was sent. */
  readonly sent: string;
  /** What came back. */
  readonly got: string;
  /** What Factuarea does then, or what it means. */
  readonly whatFactuareaDoes: string;
}

/** One thing to judge a receiver by. Each has an anchor of its id in `docs/doctor.md`. */
export interface Check {
  readonly id: string;
  readonly group: Group;
  readonly title: string;
  /** How to mend it, in a sentence or two. */
  readonly fix: string;
  /** What the check cannot do without. */
  readonly needs?: readonly Need[];
  run(kit: Kit): Promise<Found>;
}

export type Group = 'Answers' | 'Signature' | 'Body' | 'Payloads' | 'Repeats' | 'Failures';
export type Need = 'handled' | 'fails' | 'slow' | 'second secret';

/** An answer in a few words. */
export function told({ status, body, ms, error }: Reply): string {
  if (status === undefined) return `no answer: ${error ?? 'the connection was closed'}`;
  const text = body.trim().replace(/\s+/g, ' ');
  const begun = text.length > 60 ? `${text.slice(0, 59)}…` : text;
  return `${status}${begun ? ` ${begun}` : ''} in ${ms} ms`;
}

/** Judges the answer to a delivery that must be accepted. */
export function accepted(reply: Reply, sent: string): Found {
  const fate = fateOf(reply);
  return {
    state: fate.kind === 'delivered' ? 'pass' : 'fail',
    sent,
    got: told(reply),
    whatFactuareaDoes: fate.text,
  };
}

const FORGERY = 'Factuarea never sends this; anybody else on the internet can.';

/** Judges the answer to something that Factuarea did not send. */
function refused(reply: Reply, sent: string): Found {
  const { status } = reply;
  const common = { sent, got: told(reply) };
  if (status !== undefined && status >= 200 && status <= 299) {
    return { ...common, state: 'fail', whatFactuareaDoes: `${FORGERY} It was accepted.` };
  }
  if (status === undefined || status >= 500) {
    return {
      ...common,
      state: 'warn',
      whatFactuareaDoes: `${FORGERY} It was not accepted, but it looks like a crash: 401 is the answer.`,
    };
  }
  if (status >= 300 && status <= 399) {
    return { ...common, state: 'warn', whatFactuareaDoes: `${FORGERY} It was redirected: 401 is the answer.` };
  }
  return { ...common, state: 'pass', whatFactuareaDoes: FORGERY };
}

interface Simple {
  readonly id: string;
  readonly title: string;
  readonly sent: string;
  readonly fix: string;
  readonly needs?: readonly Need[];
  /** Whether it has an effect is the receiver's own affair. */
  readonly anyEffect?: true;
  event?(kit: Kit): Event;
  how?(kit: Kit): How;
  body?(event: Event): string;
}

/** A check of one delivery that must be accepted and, where that can be seen, handled. */
export function accepts(group: Group, { id, title, sent, fix, needs, anyEffect, ...make }: Simple): Check {
  return {
    id,
    group,
    title,
    fix,
    ...(needs && { needs }),
    async run(kit) {
      const event = make.event?.(kit) ?? kit.event();
      const reply = await kit.deliver(event, make.how?.(kit), make.body?.(event));
      return anyEffect ? accepted(reply, sent) : effectOf(kit, event, 1, title, accepted(reply, sent));
    },
  };
}

/** A check of one delivery that must be refused and, where that can be seen, not handled. */
export function refuses(group: Group, { id, title, sent, fix, needs, ...make }: Simple): Check {
  return {
    id,
    group,
    title,
    fix,
    ...(needs && { needs }),
    async run(kit) {
      const event = make.event?.(kit) ?? kit.event();
      const reply = await kit.deliver(event, make.how?.(kit), make.body?.(event));
      return effectOf(kit, event, 0, title, refused(reply, sent));
    },
  };
}

/** Adds what the receiver's own list says to what its answer said. */
export async function effectOf(kit: Kit, event: Event, runs: number, title: string, found: Found): Promise<Found> {
  if (!kit.handled || found.state === 'fail') return found;
  const counted = await settledCount(kit, event, runs);
  // What has been found here need not be found again at the end.
  kit.expectRuns(event, Math.max(runs, counted), title);
  if (counted === runs) return { ...found, got: `${found.got}${runs > 0 ? `; handled ${times(counted)}` : ''}` };
  return {
    ...found,
    state: 'fail',
    got: `${found.got}; handled ${times(counted)} instead of ${times(runs)}`,
    whatFactuareaDoes: counted < runs ? 'Delivered, so it is not sent again: the event is lost.' : HANDLED_TOO_OFTEN,
  };
}

export const HANDLED_TOO_OFTEN = 'Copies are ordinary: retries, replays, a second endpoint. Each had its effect here.';

export function times(count: number): string {
  return count === 1 ? 'once' : count === 0 ? 'not at all' : `${count} times`;
}

/** How often an event was handled; a receiver that works after its answer is given a moment. */
export async function settledCount(kit: Kit, event: Event, runs: number): Promise<number> {
  for (let waited = 0; ; waited += 100) {
    const counted = (await kit.handled?.count(event.id)) ?? 0;
    if (counted >= runs || waited >= 2000) return counted;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
