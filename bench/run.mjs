/**
 * `npm run bench`: measures every part against its rivals, in the same run. With `--json FILE` the figures are written
 * down, with `--page` docs/performance.md and its chart are made of them. `--from FILE` takes the parts that are not
 * measured now from the figures of an earlier run. `--list` measures nothing.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import pc from 'picocolors';
import { goalOf, isMet, number } from './figures.mjs';
import { writePage } from './page.mjs';

// In the order of the page. `growth` takes up to 40 minutes and runs only when it is asked for.
const parts = ['verify', 'request', 'postgres', 'repeats', 'stores', 'pruning', 'growth', 'memory', 'coldstart'];

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
    only: { type: 'string' },
    json: { type: 'string' },
    page: { type: 'boolean', default: false },
    from: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});
const chosen = values.only?.split(',').filter(Boolean) ?? parts.filter((part) => part !== 'growth' || values.growth);
const unknown = chosen.find((part) => !parts.includes(part));
if (unknown) throw new Error(`There is no part \`${unknown}\`. The parts are: ${parts.join(', ')}.`);

if (values.list) {
  for (const name of chosen) console.log(name, (await import(`./parts/${name}.mjs`)).title);
  process.exit();
}

// Servers are stopped when this process ends by itself, which it does not at a signal.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.versions.node}, ${process.platform}`;
const earlier = values.from ? JSON.parse(readFileSync(values.from, 'utf8')) : [];
const figures = [];
for (const name of parts) {
  if (!chosen.includes(name)) {
    figures.push(...earlier.filter(({ part }) => part === name));
    continue;
  }
  const part = await import(`./parts/${name}.mjs`);
  const [load] = loadavg();
  console.log(pc.bold(`\n${part.title}`), load > cpus().length ? pc.yellow(`(the load is ${load.toFixed(1)})`) : '');
  const started = performance.now();
  await part.run({
    quick: values.quick,
    figure(figure) {
      const date = new Date().toISOString().slice(0, 16);
      const busy = Number(Math.max(load, loadavg()[0]).toFixed(1));
      figures.push({ part: name, ...figure, ...(values.quick && { quick: true }), machine, date, load: busy });
      console.log(`  ${figure.id}  ${coloured(figure, `${number(figure.ratio)} ×`)}`);
    },
  });
  console.log(pc.dim(`  ${((performance.now() - started) / 1000).toFixed(0)} s`));
}

const table = new Table({ head: ['figure', 'ratio', 'middle half', 'goal', ''], style: { head: [], compact: true } });
for (const figure of figures) {
  const { id, ratio, low, high } = figure;
  const verdict = { true: 'met', false: 'missed' }[isMet(figure)] ?? '';
  const spread = low === undefined ? '' : `${number(low)} – ${number(high)}`;
  table.push([id, number(ratio), spread, goalOf(figure), coloured(figure, verdict)]);
}
console.log(`\n${table}`);
if (values.json) writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`);
if (values.page) await writePage(figures);
// Drivers keep their connections, and what was started here has been stopped.
process.exit();

function coloured(figure, text) {
  const met = isMet(figure);
  return met === undefined ? text : met ? pc.green(text) : pc.red(text);
}
