import { Miniflare } from 'miniflare';
import { rolldown } from 'rolldown';

const bundle = await rolldown({
  input: new URL('worker.mjs', import.meta.url).pathname,
  platform: 'neutral',
  // The repository's own would lead to the sources, and past the packages' conditions.
  tsconfig: false,
  resolve: { conditionNames: ['workerd', 'worker', 'import'] },
});
const { output } = await bundle.generate({ format: 'esm' });
const worker = new Miniflare({
  modules: true,
  script: output[0].code,
  compatibilityDate: '2026-04-01',
  compatibilityFlags: ['enable_request_signal'],
  bindings: { CONTRACT_APP: process.env.CONTRACT_APP, CONTRACT_CONFIG: process.env.CONTRACT_CONFIG },
  host: '127.0.0.1',
  port: 0,
});
const { port } = await worker.ready;
console.log(`listening on http://127.0.0.1:${port}`);
