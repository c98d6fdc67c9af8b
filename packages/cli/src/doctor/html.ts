import type { State } from './check.ts';
import type { Report, Result } from './examine.ts';

const words: Readonly<Record<State, string>> = {
  pass: 'Pass',
  warn: 'Warning',
  fail: 'Fail',
  'not-tested': 'Not tested',
};

/** The report as one page that needs nothing else: no script, no font, no request. Everything in it is escaped. */
export function htmlReport(report: Report, style: string): string {
  const { counts, results, url, at } = report;
  const groups = [...new Set(results.map((one) => one.group))];
  const states: State[] = ['fail', 'warn', 'pass', 'not-tested'];
  const verdict = counts.fail > 0 ? 'fail' : counts.warn > 0 ? 'warn' : 'pass';
  const failed = `${counts.fail} ${counts.fail === 1 ? 'check' : 'checks'} failed`;
  const verdicts = { fail: failed, warn: 'Sound, with remarks', pass: 'Every check that was made has passed' };
  const bad = results.filter(isBad);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>Webhook receiver report: ${escapeHtml(url)}</title>
<style>
${style}</style>
</head>
<body>
<header>
<p class="kind">Webhook receiver report</p>
<h1 class="${verdict}">${results[0]?.state === 'fail' ? 'No proper delivery is accepted' : verdicts[verdict]}</h1>
<p class="subject"><span>${escapeHtml(url)}</span> <time datetime="${escapeHtml(at)}">${escapeHtml(at.replace('T', ' ').slice(0, 16))} UTC</time></p>
<ul class="counts">${states
    .filter((state) => counts[state] > 0)
    .map((state) => `<li class="${state}"><b>${counts[state]}</b> ${words[state].toLowerCase()}</li>`)
    .join('')}</ul>
</header>
<main>
${bad.length > 0 ? section('To mend', bad) : ''}
${groups
  .map((group) =>
    section(
      group,
      results.filter((one) => one.group === group && !isBad(one)),
    ),
  )
  .join('\n')}
</main>
</body>
</html>
`;
}

function section(group: string, results: readonly Result[]): string {
  if (results.length === 0) return '';
  return `<section>
<h2>${escapeHtml(group)}</h2>
${results.map(entry).join('\n')}
</section>`;
}

function entry({ id, state, title, sent, got, whatFactuareaDoes, fix, docs }: Result): string {
  const bad = isBad({ state });
  const rows: [string, string][] = [
    ['Sent', sent],
    ['Got', got],
    ['Factuarea', whatFactuareaDoes],
    ...(bad || state === 'not-tested' ? [['Fix', fix] as [string, string]] : []),
  ];
  const list = rows
    .filter(([, text]) => text !== '')
    .map(([name, text]) => `<dt>${name}</dt><dd>${escapeHtml(text)}</dd>`);
  return `<details class="${state}" id="${escapeHtml(id)}"${bad ? ' open' : ''}>
<summary><span class="state">${words[state]}</span> <span class="title">${escapeHtml(title)}</span></summary>
<dl>${list.join('')}<dt>More</dt><dd><code>${escapeHtml(docs)}</code></dd></dl>
</details>`;
}

function isBad({ state }: Pick<Result, 'state'>): boolean {
  return state === 'fail' || state === 'warn';
}

/** Makes a text safe in HTML, in content and in quoted attributes. */
function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replace(/[&<>"']/g, (sign) => entities[sign] as string);
}
