import { readFile, writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { checks, examine } from '../doctor/examine.ts';
import { htmlReport } from '../doctor/html.ts';
import { textReport } from '../doctor/report-text.ts';
import { exit, messageOf, usageError } from '../exit.ts';
import { collect, httpUrl, numberOption, readData, requireSecrets, SECRET_VARIABLE } from '../input.ts';
import { readWanted } from '../play/wanted.ts';
import type { SetExit } from '../program.ts';
import { note, print, printJson, progress } from '../terminal.ts';

interface Options {
  readonly secret?: string[];
  readonly type: string;
  readonly data?: string;
  readonly handled?: string;
  readonly fails?: string;
  readonly slow?: string;
  readonly header?: string[];
  readonly timeout: number;
  readonly json?: boolean;
  readonly html?: string;
}

/** `doctor`: judges any receiver, in any language, from outside. */
export function doctorCommand(setExit: SetExit): Command {
  return new Command('doctor')
    .summary('judge any receiver, in any language, from outside')
    .description(
      `Judges a receiver from outside, with ${checks.length} checks. It sends some 150 signed events with made-up ids, ` +
        '"livemode": false and "test": true: point it at a receiver whose effects do not matter.',
    )
    .argument('<url>', "the receiver's URL")
    .option('--secret <secret>', `the endpoint's secret; repeatable (default: ${SECRET_VARIABLE})`, collect)
    .option('--type <type>', 'an event type that the receiver handles', 'invoice.sent')
    .option('--data <file>', "JSON for the events' data, where made-up ids would not do; - for standard input")
    .option('--handled <url>', 'where the receiver lists the ids it has handled: a JSON array, one entry per run')
    .option(
      '--fails <type>',
      "events whose handler fails at its first run: a type, or '*' and how the resource's id ends",
    )
    .option('--slow <type>', "events whose handler takes a third of a second or more; a type, or '*' and an ending")
    .option('--header <header>', "a custom header of the endpoint, 'Name: value'; repeatable", collect)
    .option('--timeout <seconds>', "the endpoint's timeout_seconds", numberOption('--timeout', 1, 30), 10)
    .option('--json', 'print the report as JSON')
    .option('--html <file>', 'write the report as a page that needs nothing else')
    .addHelpText(
      'after',
      `
Examples:
  $ export FACTUAREA_WEBHOOK_SECRET=whsec_…
  $ factuarea-webhook doctor http://localhost:3000/factuarea/webhook
  $ factuarea-webhook doctor http://localhost:3000/factuarea/webhook --handled http://localhost:3000/handled --html report.html
  $ factuarea-webhook doctor https://staging.example.com/hooks --type invoice.paid --data paid.json --json

What a handler does cannot be seen from outside. --handled lets effects be counted; --fails and --slow name events
for which your test set-up has a handler that fails at first, or is slow. Without them those checks are "not tested".

Exit code 0 when no check failed, 1 when one did, 3 when nobody answers at the URL.`,
    )
    .action(async (given: string, options: Options) => {
      const subject = {
        url: httpUrl(given),
        secrets: requireSecrets(options.secret),
        type: options.type,
        handled: options.handled === undefined ? undefined : httpUrl(options.handled),
        fails: options.fails === undefined ? undefined : readWanted('--fails', options.fails),
        slow: options.slow === undefined ? undefined : readWanted('--slow', options.slow),
        headers: headersFrom(options.header ?? []),
        timeoutSeconds: options.timeout,
        data: options.data === undefined ? undefined : await readData(options.data),
      };
      const shown = progress('Looking at the receiver…', options.json);
      let report: Awaited<ReturnType<typeof examine>>;
      try {
        report = await examine(subject, (done, check) => shown.say(`${done + 1}/${checks.length} ${check.title}`));
      } finally {
        shown.stop();
      }
      if (options.html !== undefined) {
        const style = await readFile(new URL('./pages/report.css', import.meta.url), 'utf8');
        await writeFile(options.html, htmlReport(report, style)).catch((error: unknown) => {
          throw usageError(`Cannot write ${options.html}: ${messageOf(error)}`);
        });
      }
      if (options.json) printJson(report);
      else print(textReport(report));
      if (options.html !== undefined) note(`The page is in ${options.html}.`);
      setExit(report.counts.fail > 0 ? exit.no : exit.ok);
    });
}

function headersFrom(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined) throw usageError(`--header must be 'Name: value', not "${line}".`);
      return [name, value.trim()];
    }),
  );
}
