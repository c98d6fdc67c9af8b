import { OLDER_SECRET, SECRET } from './support.ts';

/** A header over the body of `bodyOf(id)`, and what it comes to at NOW. */
export interface Vector {
  readonly name: string;
  readonly id: string;
  readonly header: string;
  readonly secrets: readonly string[];
  readonly result:
    | 'accepted'
    | 'signature_missing'
    | 'signature_malformed'
    | 'signature_mismatch'
    | 'timestamp_out_of_tolerance';
}

const one = [SECRET];
const zeros = '0'.repeat(64);

export const vectors: Readonly<Record<string, readonly Vector[]>> = {
  'digests of the wrong length': [
    { name: 'empty', id: 'evt_b10', header: 't=1767225600,v1=', secrets: one, result: 'signature_mismatch' },
    { name: 'short', id: 'evt_b10', header: 't=1767225600,v1=abcd', secrets: one, result: 'signature_mismatch' },
    {
      name: '63 digits',
      id: 'evt_b10',
      header: 't=1767225600,v1=a7f43f06a6cb619016beb05a553788c4f329bd0ef74c9a6a2d97d6c92c7f305',
      secrets: one,
      result: 'signature_mismatch',
    },
    {
      name: '65 digits',
      id: 'evt_b10',
      header: 't=1767225600,v1=a7f43f06a6cb619016beb05a553788c4f329bd0ef74c9a6a2d97d6c92c7f305c0',
      secrets: one,
      result: 'signature_mismatch',
    },
    {
      name: '128 digits',
      id: 'evt_b10',
      header:
        't=1767225600,v1=a7f43f06a6cb619016beb05a553788c4f329bd0ef74c9a6a2d97d6c92c7f305ca7f43f06a6cb619016beb05a553788c4f329bd0ef74c9a6a2d97d6c92c7f305c',
      secrets: one,
      result: 'signature_mismatch',
    },
    {
      name: 'base64 of the right digest',
      id: 'evt_b10',
      header: 't=1767225600,v1=p/Q/BqbLYZAWvrBaVTeIxPMpvQ73TJpqLZfWySx/MFw=',
      secrets: one,
      result: 'signature_mismatch',
    },
    {
      name: '"undefined"',
      id: 'evt_b10',
      header: 't=1767225600,v1=undefined',
      secrets: one,
      result: 'signature_mismatch',
    },
    {
      name: '8 KiB of a',
      id: 'evt_b10',
      header: `t=1767225600,v1=${'a'.repeat(8192)}`,
      secrets: one,
      result: 'signature_mismatch',
    },
  ],
  'digests that are no ASCII': [
    {
      name: 'é + 63 hex digits',
      id: 'evt_b11',
      header: 't=1767225600,v1=éfb788277dd39a63bf583e9ac5167d906058863c21017f6dc18c5666dd11b0c2',
      secrets: one,
      result: 'signature_mismatch',
    },
    {
      name: 'full-width digit',
      id: 'evt_b11',
      header: 't=1767225600,v1=０fb788277dd39a63bf583e9ac5167d906058863c21017f6dc18c5666dd11b0c2',
      secrets: one,
      result: 'signature_mismatch',
    },
    {
      name: 'emoji pair + 62',
      id: 'evt_b11',
      header: 't=1767225600,v1=😀b788277dd39a63bf583e9ac5167d906058863c21017f6dc18c5666dd11b0c2',
      secrets: one,
      result: 'signature_mismatch',
    },
    {
      name: 'NUL inside (direct call)',
      id: 'evt_b11',
      header: 't=1767225600,v1=cfb788277d\u000039a63bf583e9ac5167d906058863c21017f6dc18c5666dd11b0c2',
      secrets: one,
      result: 'signature_mismatch',
    },
  ],
  'rotation: several digests, several secrets': [
    {
      name: 'good first',
      id: 'evt_b13',
      header:
        't=1767225600,v1=4cdb9b77ca3921235bbb9779e351570927b4232c6f7860f113b9577db9f2af15,v1=0000000000000000000000000000000000000000000000000000000000000000',
      secrets: one,
      result: 'accepted',
    },
    {
      name: 'good last',
      id: 'evt_b13',
      header:
        't=1767225600,v1=0000000000000000000000000000000000000000000000000000000000000000,v1=4cdb9b77ca3921235bbb9779e351570927b4232c6f7860f113b9577db9f2af15',
      secrets: one,
      result: 'accepted',
    },
    {
      name: 'non-hex sibling',
      id: 'evt_b13',
      header: 't=1767225600,v1=not-hex,v1=4cdb9b77ca3921235bbb9779e351570927b4232c6f7860f113b9577db9f2af15',
      secrets: one,
      result: 'accepted',
    },
    {
      name: 'old key only, receiver has [new, old]',
      id: 'evt_b13',
      header: 't=1767225600,v1=45a9131931da4780e4a279ed40376c047f9c46dc653d0b439adec07eae6ffbb7',
      secrets: [SECRET, OLDER_SECRET],
      result: 'accepted',
    },
    {
      name: 'old key only, receiver has [new]',
      id: 'evt_b13',
      header: 't=1767225600,v1=45a9131931da4780e4a279ed40376c047f9c46dc653d0b439adec07eae6ffbb7',
      secrets: one,
      result: 'signature_mismatch',
    },
    {
      name: 'none right',
      id: 'evt_b13',
      header:
        't=1767225600,v1=0000000000000000000000000000000000000000000000000000000000000000,v1=ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
      secrets: one,
      result: 'signature_mismatch',
    },
    {
      name: '100 wrong v1',
      id: 'evt_b13',
      header: `t=1767225600${`,v1=${zeros}`.repeat(100)}`,
      secrets: one,
      result: 'signature_mismatch',
    },
  ],
  'the grammar of the header': [
    {
      name: '", " separators',
      id: 'evt_b15',
      header: 't=1767225600, v1=c72a8fe3957c60b889ac101daeec727e41ee9d17198f275242b5dcd642c3b334',
      secrets: one,
      result: 'accepted',
    },
    {
      name: 'spaces and tabs around',
      id: 'evt_b15',
      header: ' \tt=1767225600 ,\tv1=c72a8fe3957c60b889ac101daeec727e41ee9d17198f275242b5dcd642c3b334  ',
      secrets: one,
      result: 'accepted',
    },
    {
      name: 'trailing comma',
      id: 'evt_b15',
      header: 't=1767225600,v1=c72a8fe3957c60b889ac101daeec727e41ee9d17198f275242b5dcd642c3b334,',
      secrets: one,
      result: 'accepted',
    },
    {
      name: 'double comma',
      id: 'evt_b15',
      header: 't=1767225600,,v1=c72a8fe3957c60b889ac101daeec727e41ee9d17198f275242b5dcd642c3b334',
      secrets: one,
      result: 'accepted',
    },
    {
      name: 'v1 before t',
      id: 'evt_b15',
      header: 'v1=c72a8fe3957c60b889ac101daeec727e41ee9d17198f275242b5dcd642c3b334,t=1767225600',
      secrets: one,
      result: 'accepted',
    },
    {
      name: 'unknown keys too',
      id: 'evt_b15',
      header:
        't=1767225600,v0=0000000000000000000000000000000000000000000000000000000000000000,v1=c72a8fe3957c60b889ac101daeec727e41ee9d17198f275242b5dcd642c3b334,v2=abc,foo',
      secrets: one,
      result: 'accepted',
    },
    {
      name: 'only v0, right digest',
      id: 'evt_b15',
      header: 't=1767225600,v0=c72a8fe3957c60b889ac101daeec727e41ee9d17198f275242b5dcd642c3b334',
      secrets: one,
      result: 'signature_malformed',
    },
    {
      name: 'only v10',
      id: 'evt_b15',
      header: 't=1767225600,v10=c72a8fe3957c60b889ac101daeec727e41ee9d17198f275242b5dcd642c3b334',
      secrets: one,
      result: 'signature_malformed',
    },
    {
      name: 'no t',
      id: 'evt_b15',
      header: 'v1=c72a8fe3957c60b889ac101daeec727e41ee9d17198f275242b5dcd642c3b334',
      secrets: one,
      result: 'signature_malformed',
    },
    { name: 'no v1', id: 'evt_b15', header: 't=1767225600', secrets: one, result: 'signature_malformed' },
    { name: 'empty string', id: 'evt_b15', header: '', secrets: one, result: 'signature_missing' },
    { name: 'one comma', id: 'evt_b15', header: ',', secrets: one, result: 'signature_malformed' },
    {
      name: 'no equals signs',
      id: 'evt_b15',
      header: '1767225600 c72a8fe3957c60b889ac101daeec727e41ee9d17198f275242b5dcd642c3b334',
      secrets: one,
      result: 'signature_malformed',
    },
    {
      name: '__proto__ key',
      id: 'evt_b15',
      header: 't=1767225600,__proto__=1,v1=c72a8fe3957c60b889ac101daeec727e41ee9d17198f275242b5dcd642c3b334',
      secrets: one,
      result: 'accepted',
    },
    {
      name: 'upper-case keys',
      id: 'evt_b15',
      header: 'T=1767225600,V1=c72a8fe3957c60b889ac101daeec727e41ee9d17198f275242b5dcd642c3b334',
      secrets: one,
      result: 'signature_malformed',
    },
  ],
  'the key is the whole secret string': [
    {
      name: 'whole string',
      id: 'evt_b18',
      header: 't=1767225600,v1=704d1cb9b397c411b2bfe9e9808bc5899522bce66c10cb9322c3d4504702fec8',
      secrets: one,
      result: 'accepted',
    },
    {
      name: 'base64-decoded key',
      id: 'evt_b18',
      header: 't=1767225600,v1=1a53be1b4fbea245e8ec6367f68e8ac75ef20ac0e41fdb1c0e76782b3824c1ad',
      secrets: one,
      result: 'signature_mismatch',
    },
    {
      name: 'prefix stripped',
      id: 'evt_b18',
      header: 't=1767225600,v1=3a94f87dc296b80faceb8f2f7645777676bc23ac78a318c7fa6357685b58ae50',
      secrets: one,
      result: 'signature_mismatch',
    },
    {
      name: 'empty key',
      id: 'evt_b18',
      header: 't=1767225600,v1=b910ad801c13a49148d01d26a5c7c0d377be38be578c0e924dd841bd1bb51e61',
      secrets: one,
      result: 'signature_mismatch',
    },
  ],
  'the tolerance, on both sides': [
    {
      name: 't = now +0',
      id: 'evt_b20',
      header: 't=1767225600,v1=d95a26a1fe9e42ee3d40e6efe4939ce5572d8eb45ebe66a3a75afa75d2ea3246',
      secrets: one,
      result: 'accepted',
    },
    {
      name: 't = now -300',
      id: 'evt_b20',
      header: 't=1767225300,v1=c49aa73b4b061f8f0ee9460f930b24f29a493e3bbc145d9f3a26520f3592bd49',
      secrets: one,
      result: 'accepted',
    },
    {
      name: 't = now +300',
      id: 'evt_b20',
      header: 't=1767225900,v1=0586b20f752cfeecd3abf44aa7756f0863b3f7379978e2eed46d797a2d4b0ed1',
      secrets: one,
      result: 'accepted',
    },
    {
      name: 't = now -301',
      id: 'evt_b20',
      header: 't=1767225299,v1=e21f7e4765d25e161dcabbbc312f2b5ed95004fbb99456da8b1e621a8e65fe2b',
      secrets: one,
      result: 'timestamp_out_of_tolerance',
    },
    {
      name: 't = now +301',
      id: 'evt_b20',
      header: 't=1767225901,v1=3302301e5c86a296240f8b238d3c1c6c4997dd68ffed5cc0c747d59bc5e55a80',
      secrets: one,
      result: 'timestamp_out_of_tolerance',
    },
    {
      name: 't = now +1',
      id: 'evt_b20',
      header: 't=1767225601,v1=8444018910c0e00c1ffd08f7bdd1f0648b43b3d1e68dabba4a45bdd25c2687dd',
      secrets: one,
      result: 'accepted',
    },
    {
      name: 't = now +315360000',
      id: 'evt_b20',
      header: 't=2082585600,v1=05566e60926d0b72ea9738d9cbc5d1293b4fa90578792cef49953f1e91ae251e',
      secrets: one,
      result: 'timestamp_out_of_tolerance',
    },
  ],
  'milliseconds are no seconds': [
    {
      name: 't in ms',
      id: 'evt_b22',
      header: 't=1767225600000,v1=80f4f5f2738a5dbc986bae5233247bf2d3ea25041cbb7f46f4a8db505c45b890',
      secrets: one,
      result: 'timestamp_out_of_tolerance',
    },
    {
      name: 't in µs',
      id: 'evt_b22',
      header: 't=1767225600000000,v1=59531e41c4853580971f05b6b6ddc8dfcc97fbb620c55cc413c2348e839822a1',
      secrets: one,
      result: 'timestamp_out_of_tolerance',
    },
    {
      name: 't in seconds',
      id: 'evt_b22',
      header: 't=1767225600,v1=d8ad0d574ac624827aa22747dafc147c1ef5735f0d5c5231339be3307b4fea45',
      secrets: one,
      result: 'accepted',
    },
  ],
};
