import { adapterContract } from '@factuarea-webhook/testing';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { startContract } from './support.ts';

adapterContract(
  { name: 'next pages router', start: (config) => startContract('pages', config) },
  { describe, test, beforeAll, afterAll },
);
