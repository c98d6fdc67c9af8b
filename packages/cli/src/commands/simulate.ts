import { Command } from 'commander';
import { createLogUpdate } from 'log-update';
import { readList } from '../doctor/handled.ts';
import { exit, unable, usageError } from '../exit.ts';
import { collect, httpUrl, numberOption, readData, requireSecrets, SECRET_VARIABLE } from '../input.ts';
import { readWanted } from '../play/wanted.ts';
import type { SetExit } from '../program.ts';
import { play, type Scenario, type Setting, scenarios } from '../simulate/scenarios.ts';
import { type Tally, tally } from '../simulate/tally.ts';
import { colour, print, printJson, table } from '../terminal.ts';

interface Options {
  readonly scenario?: string[];
  readonly type: string;
  readonly data?: string;
  readonly events: number;
  readonly copies: number;
  readonly secret?: string[];
  readonly handled?: string;
  readonly fails?: string;
  readonly timeout: number;
  readonly speed: number;
  readonly json?: boolean;
}

/** A scenario's place in the table. */
interface Line {
  readonly scenario: Scenario;
  state: 'waiting' | 'running' | 'skipped' | Tally;
  attempts: number;
}

/** `simulate`: the sender's whole calendar, on a fast clock. */
export function simulateCommand(setExit: SetExit): Command {
  return new Command('simulate')
    .summary("play the sender's whole calendar on a fast clock")
    .description(
      "Plays Factuarea's sender at a receiver, with its whole calendar of retries on a fast clock, and looks whether any " +
        'event was lost or handled twice.',
    )
    .argument('<url>', "the receiver's URL")
    .option(
      '--scenario <name>',
      `one of: ${scenarios.map(({ name }) => name).join(', ')}; repeatable (default: all)`,
      collect,
    )
    .option('--type <type>', 'an event type that the receiver handles', 'invoice.sent')
    .option('--data <file>', "JSON for the events' data; - for standard input")
    .option(
      '--events <n>',
      'events per scenario; ten times as many in the storm',
      numberOption('--events', 1, 1000),
      10,
    )
    .option('--copies <n>', 'copies of each event in the storm', numberOption('--copies', 1, 100), 5)
    .option(
      '--secret <secret>',
      `the company endpoint's secret, then the account endpoint's (default: ${SECRET_VARIABLE})`,
      collect,
    )
    .option('--handled <url>', 'where the receiver lists the ids it has handled: a JSON array, one entry per run')
    .option(
      '--fails <type>',
      "events whose handler fails at its first run: a type, or '*' and how the resource's id ends",
    )
    .option('--timeout <seconds>', "the endpoint's timeout_seconds", numberOption('--timeout', 1, 30), 10)
    .option(
      '--speed <times>',
      'how fast the calendar goes; at 50000, five days take nine seconds',
      numberOption('--speed', 1, 1e6),
      50_000,
    )
    .option('--json', 'print the outcome as JSON')
    .addHelpText(
      'after',
      `
Scenarios:
${scenarios.map(({ name, title }) => `  ${name.padEnd(13)} ${title}`).join('\n')}

Examples:
  $ factuarea-webhook simulate http://localhost:3000/factuarea/webhook
  $ factuarea-webhook simulate http://localhost:3000/factuarea/webhook --handled http://localhost:3000/handled
  $ factuarea-webhook simulate http://localhost:3000/factuarea/webhook --scenario storm --events 50 --copies 20 --json

Exit code 1 when an event was lost or, as far as --handled tells, handled twice; 3 when nobody answers.`,
    )
    .action(async (given: string, options: Options) => {
      const [company, account = company] = requireSecrets(options.secret) as [string, string?];
      const setting: Setting = {
        ...options,
        url: httpUrl(given).href,
        secrets: { company, account },
        data: options.data === undefined ? undefined : await readData(options.data),
        fails: options.fails === undefined ? undefined : readWanted('--fails', options.fails),
        timeoutSeconds: options.timeout,
      };
      const list = options.handled === undefined ? undefined : httpUrl(options.handled);
      if (list) await readList(list);
      const lines = chosen(options.scenario).map((scenario): Line => ({ scenario, state: 'waiting', attempts: 0 }));
      await playAll(lines, setting, list, options.json);
      const tallies = lines.flatMap(({ state }) => (typeof state === 'object' ? [state] : []));
      const ok = tallies.every(({ lost, repeated }) => lost.length === 0 && repeated.length === 0);
      if (options.json) {
        printJson({
          url: setting.url,
          ok,
          countedBy: list ? 'the receiver’s own list' : 'answers',
          scenarios: lines.map(({ scenario: { name, title }, state }) => ({
            name,
            title,
            ...(typeof state === 'object' ? state : { skipped: 'needs --fails' }),
          })),
        });
      } else {
        print(tableOf(lines, list !== undefined));
        print(`\n${summary(tallies, list !== undefined)}`);
      }
      if (tallies.length > 0 && tallies.every(({ statuses }) => Object.keys(statuses).every((one) => one === 'none'))) {
        throw unable(`Nobody answers at ${setting.url}. Is the receiver running?`);
      }
      setExit(ok ? exit.ok : exit.no);
    });
}

function chosen(names: readonly string[] | undefined): readonly Scenario[] {
  return names === undefined
    ? scenarios
    : names.map((name) => {
        const found = scenarios.find((one) => one.name === name);
        if (found) return found;
        throw usageError(`There is no scenario "${name}". There are: ${scenarios.map((one) => one.name).join(', ')}.`);
      });
}

async function playAll(lines: Line[], setting: Setting, list: URL | undefined, quiet = false): Promise<void> {
  // The live table is for whoever watches; what goes into a pipe is the table at the end.
  const live = quiet || !process.stderr.isTTY ? undefined : createLogUpdate(process.stderr);
  const draw = (): void => live?.(tableOf(lines, list !== undefined));
  for (const line of lines) {
    if (line.scenario.needs === 'fails' && setting.fails === undefined) {
      line.state = 'skipped';
      continue;
    }
    line.state = 'running';
    draw();
    const sent = await play(line.scenario, setting, (attempts) => {
      line.attempts = attempts;
      draw();
    });
    const count = async (): Promise<Tally> => tally(sent, list && (await readList(list)));
    let counted = await count();
    // A receiver that works after its answer is given a moment.
    for (let tries = 0; tries < 10 && list && counted.lost.length > 0; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      counted = await count();
    }
    line.state = counted;
    draw();
  }
  live?.clear();
}

function tableOf(lines: readonly Line[], counts: boolean): string {
  const head = [
    'scenario',
    'events',
    'deliveries',
    'attempts',
    'answers',
    'failed',
    'lost',
    ...(counts ? ['twice'] : []),
  ];
  const number = (value: number, paint: (text: string) => string): string => (value > 0 ? paint(String(value)) : '0');
  const rows = lines.map(({ scenario, state, attempts }) => {
    if (typeof state === 'string') {
      const word = { waiting: '', running: `${attempts}…`, skipped: colour.dim('needs --fails') }[state];
      return [scenario.name, '', '', word, '', '', '', ...(counts ? [''] : [])];
    }
    const answers = Object.entries(state.statuses).map(([status, count]) => `${status} × ${count}`);
    return [
      scenario.name,
      ...[state.events, state.deliveries, state.attempts].map(String),
      answers.join(', '),
      number(state.failed, colour.yellow),
      number(state.lost.length, colour.red),
      ...(counts ? [number(state.repeated.length, colour.red)] : []),
    ];
  });
  return table(head, rows);
}

function summary(tallies: readonly Tally[], counts: boolean): string {
  const sum = (of: (one: Tally) => number): number => tallies.reduce((total, one) => total + of(one), 0);
  const events = sum((one) => one.events);
  const lost = sum((one) => one.lost.length);
  const twice = sum((one) => one.repeated.length);
  if (lost === 0 && twice === 0) {
    const once = counts ? ', and each was handled once' : '. Give --handled to see whether each was handled once';
    return colour.green(`✔ None of ${events} events was lost${once}.`);
  }
  const parts = [lost > 0 && `${lost} lost`, twice > 0 && `${twice} handled more than once`].filter(Boolean);
  return colour.red(`✖ Of ${events} events: ${parts.join(', ')}.`);
}
