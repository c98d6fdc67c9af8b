import { createHmac } from 'node:crypto';
import { forms, readJson, writeJson } from '../verify/json-forms.ts';
import { fateOf } from './fate.ts';
import type { How, Kit } from './kit.ts';

/** A proper delivery is refused: tries the usual mistakes, and names the one under which it is accepted. */
export async function explainRefusal(kit: Kit): Promise<string | undefined> {
  const secret = kit.subject.secrets[0] ?? '';
  const rest = secret.replace(/^whsec_/, '');
  const signedWith = (key: string | Buffer, withTime = true): How => ({
    signature(header, body) {
      const t = /t=(\d+)/.exec(header)?.[1] ?? '';
      const hmac = createHmac('sha256', key).update(withTime ? `${t}.` : '');
      return `t=${t},v1=${hmac.update(body).digest('hex')}`;
    },
  });
  const mistakes: readonly (readonly [why: string, how: How])[] = [
    [
      'signatures made with the base64-decoded secret: the key is the whole string',
      signedWith(Buffer.from(rest, 'base64')),
    ],
    ['signatures made with the secret without whsec_: the key is the whole string', signedWith(rest)],
    ['signatures over the body alone: the message is t, a dot and the body', signedWith(secret, false)],
    ['signatures made with an empty key: it has no secret', signedWith('')],
    ['signatures made with the secret and a line end: its secret must be trimmed', signedWith(`${secret}\n`)],
    ['signatures made with the secret in quotes: its quotes must go', signedWith(`"${secret}"`)],
  ];
  for (const [why, how] of mistakes) {
    const reply = await kit.deliver(kit.event(), how);
    if (fateOf(reply).kind === 'delivered') return `It accepts ${why}.`;
  }
  const tried = new Set([JSON.stringify(kit.event()).length]);
  for (const form of forms) {
    const event = kit.event();
    const json = readJson(JSON.stringify(event));
    if (json.kind === 'broken') return undefined;
    const body = writeJson(json, form);
    // Events differ in their ids only, so an equal length is an equal form.
    if (tried.has(body.length)) continue;
    tried.add(body.length);
    const reply = await kit.deliver(event, {}, body);
    if (fateOf(reply).kind === 'delivered') {
      return `It accepts bodies as ${form.name} writes them: it verifies a re-serialised body, not the one that arrived.`;
    }
  }
  return undefined;
}
