import { messageOf, unable } from '../exit.ts';
import type { Check, Found, Group, Need, State } from './check.ts';
import { answerChecks, answerLeaks, goodDelivery, lateEffects } from './checks/answers.ts';
import { bodyChecks } from './checks/body.ts';
import { failureChecks } from './checks/failures.ts';
import { payloadChecks } from './checks/payloads.ts';
import { repeatChecks } from './checks/repeats.ts';
import { signatureChecks } from './checks/signature.ts';
import { explainRefusal } from './explain-refusal.ts';
import { makeKit, type Subject } from './kit.ts';

/** What one check came to. */
export interface Result {
  readonly id: string;
  readonly group: Group;
  readonly title: string;
  readonly state: State;
  readonly sent: string;
  readonly got: string;
  readonly whatFactuareaDoes: string;
  /** How to mend it; of interest where it did not pass. */
  readonly fix: string;
  /** Where it is explained. */
  readonly docs: string;
}

export interface Report {
  readonly url: string;
  readonly at: string;
  readonly counts: Readonly<Record<State, number>>;
  readonly results: readonly Result[];
}

/** Every check, in the order in which they run. */
export const checks: readonly Check[] = [
  goodDelivery,
  ...answerChecks.filter((check) => check.id !== 'answer-time'),
  ...signatureChecks,
  ...bodyChecks,
  ...payloadChecks,
  ...repeatChecks,
  ...failureChecks,
  ...answerChecks.filter((check) => check.id === 'answer-time'),
  answerLeaks,
  lateEffects,
];

/** Judges a receiver from outside, by what it answers and by its own list of what it has handled. */
export async function examine(subject: Subject, onProgress: (done: number, check: Check) => void): Promise<Report> {
  const kit = makeKit(subject);
  await kit.handled?.count('');
  const results: Result[] = [];
  let refusal: string | undefined;
  for (const [at, check] of checks.entries()) {
    onProgress(at, check);
    const missing = check.needs?.find((need) => !has(subject, need));
    let found: Found;
    if (refusal !== undefined) found = untested(refusal);
    else if (missing) found = untested(hints[missing]);
    else found = await check.run(kit).catch((error: unknown): Found => untested(messageOf(error)));
    if (check === goodDelivery && found.state !== 'pass') {
      const error = kit.answers[0]?.reply.error ?? '';
      if (/ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|CERT|self.signed|SSL|EPROTO/i.test(error)) {
        throw unable(
          `Nobody answers at ${subject.url.href} (${error}). Is the receiver running, and is the URL right?`,
        );
      }
      const why = await explainRefusal(kit);
      if (why) found = { ...found, got: `${found.got}. ${why}` };
      refusal = 'a proper delivery is not accepted, so this would show nothing';
    }
    results.push(toResult(check, found));
  }
  const counts = { pass: 0, warn: 0, fail: 0, 'not-tested': 0 };
  for (const { state } of results) counts[state]++;
  return { url: subject.url.href, at: new Date().toISOString(), counts, results };
}

function has(subject: Subject, need: Need): boolean {
  if (need === 'second secret') return subject.secrets.length > 1;
  return subject[need] !== undefined;
}

const hints: Readonly<Record<Need, string>> = {
  handled: 'needs --handled <url>, the receiver’s own list of what it has handled',
  fails: 'needs --fails <type>, events whose handler fails at its first run',
  slow: 'needs --slow <type>, events whose handler takes a third of a second or more',
  'second secret': 'needs a second --secret',
};

function untested(why: string): Found {
  return { state: 'not-tested', sent: 'nothing', got: why, whatFactuareaDoes: '' };
}

function toResult({ id, group, title, fix }: Check, { state, sent, got, whatFactuareaDoes }: Found): Result {
  return { id, group, title, state, sent, got, whatFactuareaDoes, fix, docs: `docs/doctor.md#${id}` };
}
