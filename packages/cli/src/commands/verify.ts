import { Command } from 'commander';
import { exit, usageError } from '../exit.ts';
import { collect, numberOption, readInput, SECRET_VARIABLE, secretsFrom } from '../input.ts';
import type { SetExit } from '../program.ts';
import { colour, print, printJson } from '../terminal.ts';
import { type Diagnosis, diagnose, duration } from '../verify/diagnose.ts';
import { givenHeaders } from '../verify/header.ts';

interface Options {
  readonly header: string[];
  readonly body: string;
  readonly secret?: string[];
  readonly at?: string;
  readonly tolerance: number;
  readonly json?: boolean;
}

/** `verify`: says whether a captured delivery verifies and, if not, why. */
export function verifyCommand(setExit: SetExit): Command {
  return new Command('verify')
    .summary('say whether a captured delivery verifies, and if not, why')
    .description('Says whether a captured delivery verifies and, if not, why. Prints no secret and no digest.')
    .requiredOption('--header <value>', "the Factuarea-Signature header, bare or as 'Name: value'; repeatable", collect)
    .requiredOption('--body <file>', 'the raw body, exactly as it arrived; - for standard input')
    .option('--secret <secret>', `the endpoint's secret; repeatable (default: ${SECRET_VARIABLE})`, collect)
    .option('--at <time>', 'when the delivery arrived: Unix seconds or ISO 8601 (default: now)')
    .option('--tolerance <seconds>', 'accepted clock difference', numberOption('--tolerance', 1, 86_400), 300)
    .option('--json', 'print the diagnosis as JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ factuarea-webhook verify --header 't=1767225600,v1=5f0c…' --body body.json --at 1767225601
  $ pbpaste | factuarea-webhook verify --header "$HEADER" --body - --json

Exit code 0 when it verifies, 1 when it does not.`,
    )
    .action(async (options: Options) => {
      const secrets = secretsFrom(options.secret);
      if (secrets.length === 0) throw usageError(`No secret. Give --secret, or set ${SECRET_VARIABLE}.`);
      const headers = givenHeaders(options.header);
      const diagnosis = diagnose({
        ...headers,
        body: await readInput(options.body),
        secrets,
        receivedAt: options.at === undefined ? Date.now() / 1000 : timeOf(options.at),
        toleranceSeconds: options.tolerance,
      });
      if (options.json) printJson(diagnosis);
      else show(diagnosis, secrets.length);
      setExit(diagnosis.verifies ? exit.ok : exit.no);
    });
}

function timeOf(text: string): number {
  const seconds = /^\d{1,12}(\.\d+)?$/.test(text) ? Number(text) : Date.parse(text) / 1000;
  if (Number.isFinite(seconds)) return seconds;
  throw usageError('--at must be Unix seconds or an ISO 8601 time, such as 2026-01-01T00:00:00Z.');
}

function show({ verifies, secret, signedAt, clockOffsetSeconds, findings }: Diagnosis, secrets: number): void {
  print(verifies ? colour.green('✔ It verifies.') : colour.red('✖ It does not verify.'));
  for (const { problem, fix } of findings) {
    print(`\n  ${problem}`);
    print(colour.dim(`  → ${fix}`));
  }
  if (signedAt === undefined && clockOffsetSeconds === undefined) return;
  print('');
  if (signedAt)
    print(`  signed   ${signedAt}${clockOffsetSeconds === undefined ? '' : `, ${agoOf(clockOffsetSeconds)}`}`);
  if (verifies && secrets > 1) print(`  secret   ${secret} of ${secrets}`);
}

function agoOf(offset: number): string {
  if (offset === 0) return 'at the time of arrival';
  return `${duration(Math.abs(offset))} ${offset < 0 ? 'before' : 'after'} its arrival`;
}
