import { judge, program } from './support.ts';

const args = ['run', '-A', '--node-modules-dir=manual', 'serve.mjs'];

judge('fetch', 'deno', program('deno/deno'), args);
judge('hono', 'deno', program('deno/deno'), args);
