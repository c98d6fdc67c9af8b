import assert from 'node:assert/strict';
import { now, type Probe } from '../contract-probe.ts';
import { uuidV7 } from '../uuid.ts';
import type { Case } from './case.ts';

/** Every header must be accepted, or every one refused without the store being asked. */
async function each(
  probe: Probe,
  headers: (t: string, v1: string) => Readonly<Record<string, string | null>>,
  accepted: boolean,
): Promise<void> {
  const names = Object.keys(headers('', ''));
  for (const name of names) {
    const event = probe.event();
    const [t, v1] = (await probe.sign(event.body)).split(',').map((pair) => pair.slice(pair.indexOf('=') + 1));
    const signature = headers(t as string, v1 as string)[name] as string | null;
    const answer = await probe.send(event, { signature });
    try {
      if (accepted) probe.isHandled(answer);
      else {
        probe.isAnswer(answer, 401, 'invalid_signature');
        await probe.untouched(event.id);
      }
    } catch (error) {
      throw new Error(`With the header “${name}”: ${(error as Error).message}`, { cause: error });
    }
  }
}

const zeros = '0'.repeat(64);

/** What the signature header can hold. */
export const signatureCases: readonly Case[] = [
  {
    id: 'signature-readings',
    title: 'spaces, empty items, order and unknown pairs do not matter',
    run: (probe) =>
      each(
        probe,
        (t, v1) => ({
          'spaces after commas': `t=${t}, v1=${v1}`,
          'spaces and tabs': ` \tt=${t} ,\tv1=${v1}  `,
          'trailing comma': `t=${t},v1=${v1},`,
          'double comma': `t=${t},,v1=${v1}`,
          'v1 first': `v1=${v1},t=${t}`,
          'unknown pairs': `t=${t},v0=${zeros},v1=${v1},v2=abc,foo`,
          __proto__: `t=${t},__proto__=1,v1=${v1}`,
        }),
        true,
      ),
  },
  {
    id: 'signature-any-v1',
    title: 'any one v1 that holds is enough',
    run: (probe) =>
      each(
        probe,
        (t, v1) => ({
          first: `t=${t},v1=${v1},v1=${zeros}`,
          last: `t=${t},v1=${zeros},v1=${v1}`,
          'beside one that is no hex': `t=${t},v1=not-hex,v1=${v1}`,
        }),
        true,
      ),
  },
  {
    id: 'rotation',
    title: 'during a rotation both orders of the two secrets are accepted',
    async run(probe) {
      const { company } = probe.config.secrets;
      const other = `whsec_${uuidV7()}`;
      for (const secrets of [
        [company, other],
        [other, company],
      ]) {
        const event = probe.event();
        probe.isHandled(await probe.send(event, { signature: await probe.sign(event.body, undefined, secrets) }));
      }
      const event = probe.event();
      const signature = await probe.sign(event.body, undefined, other);
      probe.isAnswer(await probe.send(event, { signature }), 401, 'invalid_signature');
      await probe.untouched(event.id);
    },
  },
  {
    id: 'signature-malformed',
    title: 'a header that is missing or cannot be read: 401, and the store is not asked',
    run: (probe) =>
      each(
        probe,
        (t, v1) => ({
          none: null,
          empty: '',
          comma: ',',
          'no t': `v1=${v1}`,
          'no v1': `t=${t}`,
          'only v0': `t=${t},v0=${v1}`,
          'only v10': `t=${t},v10=${v1}`,
          'no equals signs': `${t} ${v1}`,
          'upper-case names': `T=${t},V1=${v1}`,
          'two t': `t=${t},t=${t},v1=${v1}`,
          't with a sign': `t=+${t},v1=${v1}`,
          't with a fraction': `t=${t}.0,v1=${v1}`,
        }),
        false,
      ),
  },
  {
    id: 'signature-mismatch',
    title: 'a digest that is wrong, of a wrong length or in another alphabet: 401',
    run: (probe) =>
      each(
        probe,
        (t, v1) => ({
          empty: `t=${t},v1=`,
          short: `t=${t},v1=abcd`,
          '63 digits': `t=${t},v1=${v1.slice(1)}`,
          '65 digits': `t=${t},v1=${v1}0`,
          '128 digits': `t=${t},v1=${v1}${v1}`,
          base64: `t=${t},v1=${Buffer.from(v1, 'hex').toString('base64')}`,
          undefined: `t=${t},v1=undefined`,
          zeros: `t=${t},v1=${zeros}`,
          '100 wrong ones': `t=${t}${`,v1=${zeros}`.repeat(100)}`,
          'the next second': `t=${Number(t) + 1},v1=${v1}`,
        }),
        false,
      ),
  },
  {
    id: 'signature-non-ascii',
    title: 'bytes outside ASCII in the header: 401',
    run: (probe) =>
      each(
        probe,
        (t, v1) => ({
          // Written byte for byte, so these are the two bytes of é in UTF-8, and é in Latin-1.
          'é in UTF-8': `t=${t},v1=\u00c3\u00a9${v1.slice(1)}`,
          'é in Latin-1': `t=${t},v1=\u00e9${v1.slice(1)}`,
          'a full-width digit': `t=${t},v1=\u00ef\u00bc\u0090${v1.slice(1)}`,
        }),
        false,
      ),
  },
  {
    id: 'signature-long',
    title: 'a header of 8 KiB: 401',
    run: (probe) => each(probe, (t) => ({ long: `t=${t},v1=${'a'.repeat(8192)}` }), false),
  },
  {
    id: 'signature-twice',
    title: 'two signature headers: 401',
    async run(probe) {
      const event = probe.event();
      const headers = { 'factuarea-signature': await probe.sign(event.body) };
      probe.isAnswer(await probe.send(event, { headers }), 401, 'invalid_signature');
      await probe.untouched(event.id);
    },
  },
  {
    id: 'timestamp',
    title: 'a signature up to 300 s old or ahead is accepted; older, newer or in milliseconds is not',
    async run(probe) {
      // A few seconds off the edge, since the app's clock goes on while the delivery travels.
      for (const off of [0, -290, 290]) {
        const event = probe.event();
        probe.isHandled(await probe.send(event, { signature: await probe.sign(event.body, now() + off) }));
      }
      for (const t of [now() - 310, now() + 310, now() + 315_360_000, now() * 1000, now() * 1_000_000]) {
        const event = probe.event();
        const signature = await probe.sign(event.body, t);
        probe.isAnswer(await probe.send(event, { signature }), 401, 'invalid_signature');
        await probe.untouched(event.id);
        assert.equal((await probe.outcomes(event.id))[0]?.reason, 'timestamp_out_of_tolerance');
      }
    },
  },
  {
    id: 'tampered',
    title: 'a body changed by one byte, or written anew by a JSON library: 401',
    async run(probe) {
      const event = probe.event();
      const signature = await probe.sign(event.body);
      const changed = Buffer.from(event.body);
      changed[changed.length - 1] = 0x20;
      const anew = Buffer.from(JSON.stringify(JSON.parse(Buffer.from(event.body).toString())));
      for (const body of [changed, anew]) {
        probe.isAnswer(await probe.send({ id: event.id, body }, { signature }), 401, 'invalid_signature');
      }
      await probe.untouched(event.id);
    },
  },
];
