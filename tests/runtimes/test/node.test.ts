import { judge, program } from './support.ts';

judge('fetch on node 20', process.execPath, ['serve.mjs']);
judge('fetch on node 22', program('node22/bin/node'), ['serve.mjs']);
judge('fetch on node 24', program('node24/bin/node'), ['serve.mjs']);
