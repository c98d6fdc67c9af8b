import { adapterContract } from '@factuarea-webhook/testing';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { startContract } from './support.ts';

adapterContract(
  { name: 'next app router', start: (config) => startContract('app', config) },
  { describe, test, beforeAll, afterAll },
);
