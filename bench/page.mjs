import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chart } from './chart.mjs';
import { goalOf, isMet, number } from './figures.mjs';
import { notes } from './notes.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const docs = `${root}docs/`;

/** Writes docs/performance.md and its chart from the figures of a run. */
export async function writePage(figures) {
  const parts = [];
  for (const part of new Set(figures.map((figure) => figure.part))) {
    const { title, method } = await import(`./parts/${part}.mjs`);
    parts.push(
      section(
        title,
        method,
        figures.filter((figure) => figure.part === part),
      ),
    );
  }
  writeFileSync(`${docs}performance.svg`, chart(figures.filter(({ goal }) => goal !== undefined)));
  writeFileSync(`${docs}performance.md`, `${[head(figures), ...parts, tail].join('\n\n')}\n`);
  // Tables in the form that `npm run lint` wants them.
  execFileSync('npx', ['biome', 'format', '--write', `${docs}performance.md`], { cwd: root, stdio: 'ignore' });
}

function head(figures) {
  const goals = figures.filter(({ goal }) => goal !== undefined);
  const met = goals.filter(isMet).length;
  const machines = [...new Set(figures.map(({ machine }) => machine))].join('; ');
  const dates = figures.map(({ date }) => date.slice(0, 10)).toSorted();
  const days = [...new Set([dates[0], dates.at(-1)])].join(' to ');
  const quick = figures.some((figure) => figure.quick) ? ' Some of it with `--quick`, so with few rounds.' : '';
  const load = Math.max(...figures.map((figure) => figure.load));
  // The bench itself keeps two processors at work.
  const busy = load > 4 ? ` **Provisional:** other programs were at work meanwhile, the load was up to ${load}.` : '';
  return `# Performance

What a delivery costs, next to what it costs without this library. ${met} of ${goals.length} goals are met.

![Each figure that has a goal, as how many times better than its rival, with the goal](performance.svg)

Measured on ${days}: ${machines}.${quick}${busy}

Times differ from machine to machine, so every figure is a **ratio**: ours divided by the rival's. Both are measured in
the same run and take turns, round by round, so that whatever else the machine does meets both alike. The ratio given is
the median of the rounds' ratios; half of the rounds lie in the range beside it. Servers run in processes of their own,
apart from the load. A figure that misses its goal says what the rest is made of.`;
}

function section(title, method, figures) {
  const rows = figures.map((figure) => {
    const { id, ratio, low, high, unit, ours, theirs } = figure;
    const verdict = { true: '✓', false: '✗' }[isMet(figure)] ?? '';
    const spread = low === undefined ? '' : `${number(low)} – ${number(high)}`;
    const sides = ours === undefined ? '' : `${number(ours)} : ${number(theirs)} ${unit}`;
    return `| \`${id}\` | **${number(ratio)}** | ${spread} | ${sides} | ${[goalOf(figure), verdict].join(' ').trim()} |`;
  });
  const missed = figures.filter((figure) => isMet(figure) === false && notes[figure.id]).map(({ id }) => id);
  const remarks = [...new Set(missed.map((id) => notes[id]))].map((note) => {
    const ids = missed.filter((id) => notes[id] === note).map((id) => `\`${id}\``);
    return `${ids.join(', ')}: ${note}`;
  });
  const table = ['| figure | ratio | half of the rounds | ours : theirs | goal |', '|---|---:|---|---|---|', ...rows];
  return [`## ${title}`, method, table.join('\n'), ...remarks].join('\n\n');
}

const tail = `## How to repeat it

    npm run bench                                    # under 10 minutes
    npm run bench -- --quick                         # under 2 minutes
    npm run bench -- --growth                        # with the growth of the stores, up to 40 minutes
    npm run bench -- --only verify,request
    npm run bench -- --json figures.json --page      # writes the figures, this page and its chart
    npm run bench -- --from figures.json --only postgres --page

Leave the machine alone while it runs. Redis, Postgres and MariaDB are started for it and stopped again; servers of your
own can be given in \`TEST_REDIS_URL\`, \`TEST_POSTGRES_URL\` and \`TEST_MYSQL_URL\`. This page is made by
\`bench/page.mjs\`: a change by hand is overwritten.`;
