import { judge, program } from './support.ts';

judge('fetch on deno', program('deno/deno'), ['run', '-A', '--node-modules-dir=manual', 'serve.mjs'], {
  'middleware/route-hangs': 'Deno.serve 2.9.6 does not abort `request.signal` here, so the claim ends with its lease',
});
