import { adapterContract } from '@factuarea-webhook/testing';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { startBare } from './bare-server.ts';

adapterContract({ name: 'bare core on node:http', start: startBare }, { describe, test, beforeAll, afterAll });
