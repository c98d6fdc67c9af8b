import * as core from '@factuarea-webhook/core';
import * as fetchBridge from '@factuarea-webhook/core/fetch';
import { entries } from './entries.mjs';
import { receive } from './receive.cjs';

await receive(core, fetchBridge);
console.log(JSON.stringify(Object.fromEntries(Object.entries(entries).map(([name, all]) => [name, Object.keys(all)]))));
