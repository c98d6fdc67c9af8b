import { judge, program } from './support.ts';

judge('fetch on bun', program('bun/bin/bun.exe'), ['serve.mjs']);
