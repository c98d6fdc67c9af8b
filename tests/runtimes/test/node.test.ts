import { judge, program } from './support.ts';

// Hono on Node has its own row: its package's tests run the contract on node-server.
judge('fetch', 'node 20', process.execPath, ['serve.mjs']);
judge('fetch', 'node 22', program('node22/bin/node'), ['serve.mjs']);
judge('fetch', 'node 24', program('node24/bin/node'), ['serve.mjs']);
