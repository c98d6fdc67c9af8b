import { colour, columns, safe, short, table } from '../terminal.ts';
import type { State } from './check.ts';
import type { Report, Result } from './examine.ts';

const marks: Readonly<Record<State, string>> = {
  pass: colour.green('pass'),
  warn: colour.yellow('warn'),
  fail: colour.red('FAIL'),
  'not-tested': colour.dim('–'),
};

/** The report for a terminal: a table of everything, then what to mend. */
export function textReport(report: Report): string {
  const got = columns() - 36;
  const rows = report.results.map((one) => [marks[one.state], one.id, short(safe(one.got), got)]);
  const parts = [table(['', 'check', 'what came back'], rows)];
  const bad = report.results.filter((one) => one.state === 'fail' || one.state === 'warn');
  parts.push(...bad.map(detail));
  parts.push(summary(report));
  return parts.join('\n\n');
}

function detail({ id, state, title, sent, got, whatFactuareaDoes, fix, docs }: Result): string {
  const line = (name: string, text: string): string => `  ${colour.dim(name.padEnd(10))} ${safe(text)}`;
  return [
    `${marks[state]} ${colour.bold(id)}: ${title}`,
    line('sent', sent),
    line('got', got),
    line('Factuarea', whatFactuareaDoes),
    line('fix', fix),
    line('more', docs),
  ].join('\n');
}

/** The counts in a sentence. */
function summary({ counts, results, url }: Report): string {
  const parts = [`${counts.pass} passed`];
  if (counts.fail) parts.push(colour.red(`${counts.fail} failed`));
  if (counts.warn) parts.push(colour.yellow(`${counts.warn} ${counts.warn === 1 ? 'warning' : 'warnings'}`));
  if (counts['not-tested']) parts.push(`${counts['not-tested']} not tested`);
  return `${results.length} checks on ${safe(url)}: ${parts.join(', ')}.`;
}
