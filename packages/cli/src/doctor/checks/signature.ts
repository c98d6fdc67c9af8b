import { createHmac } from 'node:crypto';
import { accepts, type Check, refuses, told } from '../check.ts';

const group = 'Signature';
const verify = 'Verify HMAC-SHA256 over t, a dot and the raw body bytes, and answer 401 when no v1 fits.';
const bothSides = 'Refuse when the absolute difference between your clock and t is over 300 seconds, both ways.';
const everyV1 = 'Compare with every v1 in the header, and accept when any one fits.';
const keyIsWhole = 'Use the whole secret, whsec_ included, as the key. Do not decode it.';
const zeros = '0'.repeat(64);

/** The header with each `v1` made by `sign` instead. */
const resigned = (key: string | Buffer, message: (t: string, body: Uint8Array) => Uint8Array | string) => {
  return (header: string, body: Uint8Array): string => {
    const t = /t=(\d+)/.exec(header)?.[1] ?? '';
    return `t=${t},v1=${createHmac('sha256', key).update(message(t, body)).digest('hex')}`;
  };
};
const whole = (t: string, body: Uint8Array): Buffer => Buffer.concat([Buffer.from(`${t}.`), body]);

export const signatureChecks: readonly Check[] = [
  refuses(group, {
    id: 'unsigned',
    title: 'A delivery without a signature is refused',
    sent: 'an event without Factuarea-Signature',
    fix: verify,
    how: () => ({ signature: () => null }),
  }),
  refuses(group, {
    id: 'tampered',
    title: 'A changed body is refused',
    sent: 'a signed event with one character changed afterwards',
    fix: verify,
    how: () => ({ tamper: (body) => body.replace('false', 'true ') }),
  }),
  refuses(group, {
    id: 'other-secret',
    title: 'Another secret’s signature is refused',
    sent: 'an event signed with a secret that is not the endpoint’s',
    fix: verify,
    how: () => ({ secrets: ['whsec_0000000000000000000000'] }),
  }),
  refuses(group, {
    id: 'empty-secret',
    title: 'A signature made with an empty secret is refused',
    sent: 'an event signed with an empty key',
    fix: 'Refuse to start without a secret: an unset variable must not become an empty key.',
    how: () => ({ signature: resigned('', whole) }),
  }),
  refuses(group, {
    id: 'decoded-secret',
    title: 'The secret is not base64-decoded',
    sent: 'an event signed with the base64-decoded secret as the key',
    fix: keyIsWhole,
    how: (kit) => ({
      signature: resigned(Buffer.from((kit.subject.secrets[0] ?? '').replace(/^whsec_/, ''), 'base64'), whole),
    }),
  }),
  refuses(group, {
    id: 'time-not-signed',
    title: 'The time is part of what is signed',
    sent: 'an event whose v1 is over the body alone',
    fix: verify,
    how: (kit) => ({ signature: resigned(kit.subject.secrets[0] ?? '', (_t, body) => body) }),
  }),
  refuses(group, {
    id: 'moved-time',
    title: 'An old signature with a new time is refused',
    sent: 'an event signed an hour ago, with t set to now',
    fix: verify,
    how: () => ({
      clock: -3600,
      signature: (header) => header.replace(/t=\d+/, `t=${Math.floor(Date.now() / 1000)}`),
    }),
  }),
  refuses(group, {
    id: 'old-time',
    title: 'An old delivery is refused',
    sent: 'an event signed an hour ago',
    fix: bothSides,
    how: () => ({ clock: -3600 }),
  }),
  refuses(group, {
    id: 'future-time',
    title: 'A delivery from the future is refused',
    sent: 'an event signed an hour from now',
    fix: bothSides,
    how: () => ({ clock: 3600 }),
  }),
  refuses(group, {
    id: 'millisecond-time',
    title: 'A time in milliseconds is not guessed at',
    sent: 'an event signed with t in milliseconds',
    fix: `${bothSides} t is in seconds.`,
    how: (kit) => ({
      signature: (_header, body) => {
        const t = String(Date.now());
        const digest = createHmac('sha256', kit.subject.secrets[0] ?? '')
          .update(whole(t, body))
          .digest('hex');
        return `t=${t},v1=${digest}`;
      },
    }),
  }),
  accepts(group, {
    id: 'late-clock',
    title: 'A clock four minutes ahead of the sender’s is accepted',
    sent: 'an event signed 240 seconds ago',
    fix: bothSides,
    how: () => ({ clock: -240 }),
  }),
  accepts(group, {
    id: 'early-clock',
    title: 'A clock four minutes behind the sender’s is accepted',
    sent: 'an event signed 240 seconds from now',
    fix: bothSides,
    how: () => ({ clock: 240 }),
  }),
  accepts(group, {
    id: 'rotation-first',
    title: 'Rotation: the first of two v1 fits',
    sent: 'an event with two v1, of which the first fits',
    fix: everyV1,
    how: () => ({ signature: (header) => `${header},v1=${zeros}` }),
  }),
  accepts(group, {
    id: 'rotation-second',
    title: 'Rotation: the second of two v1 fits',
    sent: 'an event with two v1, of which the second fits',
    fix: `${everyV1} For 24 hours after a rotation the header has two.`,
    how: () => ({ signature: (header) => header.replace(',v1=', `,v1=${zeros},v1=`) }),
  }),
  accepts(group, {
    id: 'second-secret',
    title: 'The second secret is accepted too',
    sent: 'an event signed with the second secret alone',
    fix: 'Hold every endpoint’s secret, and try each: one URL can be registered at two endpoints.',
    needs: ['second secret'],
    how: (kit) => ({ secrets: kit.subject.secrets.slice(1, 2) }),
  }),
  accepts(group, {
    id: 'unknown-pairs',
    title: 'Unknown pairs in the header are ignored',
    sent: 'an event whose header also has v0=…, v2=… and foo=bar',
    fix: 'Read the pairs t and v1 by name, and pass over every other.',
    how: () => ({
      signature: (header) => `${header.replace(',v1=', `,v0=${zeros},v1=`)},v2=abc,foo=bar`,
    }),
  }),
  refuses(group, {
    id: 'other-scheme',
    title: 'Only v1 counts as a signature',
    sent: 'an event whose right digest is labelled v0',
    fix: 'Take digests from v1 only.',
    how: () => ({ signature: (header) => header.replace('v1=', 'v0=') }),
  }),
  {
    id: 'malformed-header',
    group,
    title: 'A malformed header is refused without a crash',
    fix: 'Check the digest’s form (64 hex digits) before a constant-time comparison: those throw on unequal lengths.',
    async run(kit) {
      const headers = ['t=', 't=1,v1=abcd', 't=x,v1=', 'v1', ',,,', `t=1;v1=${zeros}`];
      const now = `t=${Math.floor(Date.now() / 1000)}`;
      headers.push(`${now},v1=abcd`, `${now},v1=${'z'.repeat(64)}`, `${now},v1=${'\u00e9'.repeat(32)}`);
      const sent = `${headers.length} events with unreadable headers, such as v1=abcd`;
      let worst = { state: 'pass' as 'pass' | 'warn' | 'fail', got: '' };
      for (const header of headers) {
        const reply = await kit.deliver(kit.event(), { signature: () => header });
        const { status } = reply;
        const state =
          status !== undefined && status < 300 ? 'fail' : status === undefined || status >= 500 ? 'warn' : 'pass';
        if (worst.got === '' || (worst.state !== 'fail' && state !== 'pass')) worst = { state, got: told(reply) };
      }
      const means = { pass: 'Refused.', warn: 'Not accepted, but it looks like a crash.', fail: 'It was accepted.' };
      return {
        state: worst.state,
        sent,
        got: worst.got,
        whatFactuareaDoes: `Factuarea never sends this; anybody else can. ${means[worst.state]}`,
      };
    },
  },
];
