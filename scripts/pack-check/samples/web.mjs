import * as core from '@factuarea-webhook/core';
import * as fetchBridge from '@factuarea-webhook/core/fetch';
import { receive } from './receive.cjs';

await receive(core, fetchBridge);
