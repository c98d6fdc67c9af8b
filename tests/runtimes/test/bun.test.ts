import { judge, program } from './support.ts';

judge('fetch', 'bun', program('bun/bin/bun.exe'), ['serve.mjs']);
judge('hono', 'bun', program('bun/bin/bun.exe'), ['serve.mjs']);
