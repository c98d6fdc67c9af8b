import { judge, program } from './support.ts';

const command = [program('deno/deno'), ['run', '-A', '--node-modules-dir=manual', 'serve.mjs']] as const;
const except = {
  'middleware/route-hangs':
    'Deno.serve 2.9.6 aborts `request.signal` only where the body came together with the head; else the claim ends at the handler’s limit',
};

for (const maker of ['fetch', 'hono'] as const) judge(maker, 'deno', command[0], [...command[1]], except);
