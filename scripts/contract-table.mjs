/**
 * Turns the results of the adapter contract into the table of docs/frameworks.md:
 * `node scripts/contract-table.mjs [results.jsonl]` prints it, `--write` puts it into the page. The results are those
 * that `npm test` leaves in `.test-results/contract.jsonl`.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where `npm test` leaves the results. */
export const RESULTS = fileURLToPath(new URL('../.test-results/contract.jsonl', import.meta.url));

const PAGE = fileURLToPath(new URL('../docs/frameworks.md', import.meta.url));
const MARKS = ['<!-- contract: begin -->', '<!-- contract: end -->'];

/** What the cases are about: a case belongs to the first whose pattern fits its id, without the form before it. */
const groups = [
  ['own route', /^(route-|stream-|settled-first|repeat-not-routed)/],
  ['signature', /^(signature-|rotation|timestamp|tampered)/],
  ['method, connection', /^(method-|keep-alive|expect-continue|gone-)/],
  ['store', /^(store-|unrecorded|marker-|commit-|release-)/],
  [
    'body',
    /^(split-|chunked|content-types|large|at-limit|declared-|endless|empty-|unread-|gzip|zip-|identity|body-parser)/,
  ],
  ['outcome', /^/],
];

/** Reads results. What was run several times counts by its last run. */
export function readResults(file) {
  if (!existsSync(file)) return [];
  const results = readFileSync(file, 'utf8').trim().split('\n').filter(Boolean).map(JSON.parse);
  return [...new Map(results.map((one) => [`${one.subject}\n${one.case}`, one])).values()];
}

/** The number of cases, and of each result, by adapter in the order of the alphabet. */
export function totals(results) {
  return [...grouped(results, (one) => one.subject)]
    .map(([subject, own]) => {
      const count = (result) => own.filter((one) => one.result === result).length;
      return { subject, own, passed: count('passed'), excepted: count('excepted'), failed: count('failed') };
    })
    .sort((a, b) => (a.subject.toLowerCase() < b.subject.toLowerCase() ? -1 : 1));
}

/** The table in Markdown, and the exceptions under it. */
export function markdown(results) {
  const adapters = totals(results);
  const row = (cells) => `| ${cells.join(' | ')} |`;
  const head = ['adapter on runtime', ...groups.map(([name]) => name), 'in all', 'exceptions'];
  const rows = adapters.map(({ subject, own, passed, excepted }) => {
    const byGroup = grouped(own, groupOf);
    const cells = groups.map(([name]) => passedOf(byGroup.get(name) ?? []));
    return row([subject, ...cells, `**${passed} of ${own.length}**`, excepted || 'none']);
  });
  return [row(head), row(head.map((_, at) => (at === 0 ? '---' : '--:'))), ...rows, '', ...exceptions(results)].join(
    '\n',
  );
}

/** Each reason once, with the adapters and the cases it stands for. */
function exceptions(results) {
  const excepted = results.filter((one) => one.result === 'excepted');
  return [...grouped(excepted, (one) => one.reason)].map(([reason, own]) => {
    const names = (of) => [...new Set(own.map(of))].sort().join(', ');
    return `- **${names((one) => one.subject)}**: ${reason}. (${names((one) => `\`${one.case}\``)})`;
  });
}

function passedOf(results) {
  const passed = results.filter((one) => one.result === 'passed').length;
  return passed === results.length ? passed : `${passed} of ${results.length}`;
}

function groupOf({ case: id }) {
  return groups.find(([, pattern]) => pattern.test(id.replace(/^[a-z]+\//, '')))[0];
}

function grouped(items, key) {
  const map = new Map();
  for (const item of items) map.set(key(item), [...(map.get(key(item)) ?? []), item]);
  return map;
}

function main(args) {
  const results = readResults(args.find((one) => !one.startsWith('--')) ?? RESULTS);
  if (results.length === 0) throw new Error('There are no results. Run `npm test` first.');
  const table = markdown(results);
  if (!args.includes('--write')) return console.log(table);
  const failed = results.filter((one) => one.result === 'failed');
  if (failed.length > 0) throw new Error(`${failed[0].subject} fails ${failed[0].case}: the page tells what holds.`);
  const page = readFileSync(PAGE, 'utf8');
  const [begin, end] = MARKS.map((mark) => page.indexOf(mark));
  if (begin < 0 || end < begin) throw new Error(`${PAGE} has lost its marks ${MARKS.join(' and ')}.`);
  writeFileSync(PAGE, `${page.slice(0, begin + MARKS[0].length)}\n${table}\n${page.slice(end)}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
