import { adapterContract } from '@factuarea-webhook/testing';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { startContract } from './support.ts';

const buffered = '`next start` reads a body to its end before it calls a route on the Edge runtime';

adapterContract(
  {
    name: 'next app router on edge',
    start: (config) => startContract('edge', config),
    except: Object.fromEntries(
      ['declared-over-limit', 'endless', 'unread-without-signature', 'method-body-unread'].flatMap((id) => [
        [`handler/${id}`, buffered],
        [`middleware/${id}`, buffered],
      ]),
    ),
  },
  { describe, test, beforeAll, afterAll },
);
