import assert from 'node:assert/strict';
import type { StoreCase } from './store-contract.ts';
import { claimOwn, elsewhere, finish, stateOf } from './store-contract-tools.ts';

const family = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}';

/** Ids hold no spaces, so a line of them can be written as one. */
const words = (line: string): string[] => line.split(' ');

/**
 * Ids that careless keys, collations and type conversions take for one another. Each is an id of its own: the sender
 * says no more of an id than that it is a text.
 */
const trickyIds: readonly string[] = [
  ...words('0f8fad5b-d9cb-469f-a165-70867728950e 0F8FAD5B-D9CB-469F-A165-70867728950E'),
  ...words('evt_a EVT_A Evt_a evt-a evta evt_a_'),
  // What a number could be made of.
  ...words('0 00 7 07 007 7.0 7e0 +7 -0 9007199254740993 9007199254740992 0x7 1_0 10 NaN Infinity'),
  ...words('null undefined true NULL TRUE __proto__ constructor toString hasOwnProperty'),
  // What a key, a query or a pattern could read into it.
  ...words(String.raw`' '' " "" \ \\ ';-- a'b a"b '_OR_'1'='1 $1 ? :id @id`),
  ...words(String.raw`: :: a:b a:b:c {} {a} {a}b { } * ** % %% _ __ [a] a/b a\b .`),
  // What collations fold: accents, width, sharp s, dotless i, ligatures, the last sigma of a word, marks alone.
  ...words('\u00e9 e\u0301 e \u00c9 E\u0301 \u00e4 a A \u00c5 \u212b A\u030a \u0301 \u00df ss SS \u0131 i I \u0130'),
  ...words(
    '\ufb01 fi \u03a3 \u03c3 \u03c2 \uff21 \uff41 \uff11 1 \u2460 \u00b2 2 \u304b \u304c \u30ab \uff76 \u2177 viii',
  ),
  ...words('\u{1f600} \u{1f601} \u{1f44d} \u{1f44d}\u{1f3fd} \u2764 \u2764\ufe0f'),
  ...[family, family.replaceAll('\u200d', '')],
  // The longest, and those that differ from it at the end alone.
  ...['a'.repeat(255), 'a'.repeat(254), `${'a'.repeat(254)}b`, `${'a'.repeat(254)}A`, '\u00e9'.repeat(255)],
  ...['\u{1f600}'.repeat(255), `${'\u{1f600}'.repeat(254)}\u{1f601}`, '\uffff'.repeat(255)],
];

/** Ids are opaque: nothing is folded, cut or converted. */
export const idCases: readonly StoreCase[] = [
  {
    id: 'ids-apart',
    title: 'ids that look alike are never taken for one another, and each is found again',
    async run(context) {
      for (const id of trickyIds)
        assert.equal(await (await claimOwn(context.store, id)).done(), true, JSON.stringify(id));
      for (const id of trickyIds) {
        assert.equal(await stateOf(elsewhere(context), id), 'done', JSON.stringify(id));
      }
    },
  },
  {
    id: 'ids-release',
    title: 'releasing an id frees none that looks like it',
    async run({ store, subject }) {
      if (subject.serial) return released(store, trickyIds.slice(0, 8));
      const claims = [];
      for (const id of trickyIds.slice(0, 8)) claims.push(await claimOwn(store, id));
      await claims[0]?.release();
      for (const id of trickyIds.slice(1, 8)) assert.equal(await stateOf(store, id), 'busy', id);
      for (const claim of claims.slice(1)) await claim.release();
    },
  },
];

/** Where claims take turns, nothing else can be held at the same time: what is released is what is free again. */
async function released(store: Parameters<typeof claimOwn>[0], ids: readonly string[]): Promise<void> {
  const [first, ...others] = ids as [string, ...string[]];
  for (const id of others) await finish(store, id);
  await (await claimOwn(store, first)).release();
  for (const id of others) assert.equal(await stateOf(store, id), 'done', id);
}
