import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { counted, median } from '../figures.mjs';

export const title = 'Memory';

export const method = `A million deliveries through one process, with the memory store at its preset of 100 000 ids, which is full after the
first tenth. *Flat* is the process's memory over the last tenth against that over the third tenth, when all is warm. An id in
the memory store stands against one in a bare \`Set\`, the text of the id included in both.`;

export async function run({ quick, figure }) {
  const [count, maxIds] = quick ? [50_000, 10_000] : [1_000_000, 100_000];
  const script = fileURLToPath(new URL('../rivals/soak.mjs', import.meta.url));
  const child = fork(script, [count, maxIds].map(String), { execArgv: ['--expose-gc'] });
  const [told] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (!told?.rss) throw new Error('The process that was measured has failed.');
  const { rss, idBytes } = told;
  const tenth = (n) => median(rss.slice(n * 10, n * 10 + 10));
  figure({ id: 'memory-flat', ...counted(tenth(9), tenth(2)), better: 'lower', goal: 1.1, unit: 'MB' });
  figure({ id: 'memory-id-vs-set', ...counted(idBytes.ours, idBytes.set), better: 'lower', unit: 'bytes an id' });
}
