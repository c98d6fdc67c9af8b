import { createRequire } from 'node:module';
import { Command } from 'commander';
import { doctorCommand } from './commands/doctor.ts';
import { listenCommand } from './commands/listen.ts';
import { sendCommand } from './commands/send.ts';
import { simulateCommand } from './commands/simulate.ts';
import { migrateCommand, pruneCommand, statusCommand } from './commands/stores.ts';
import { verifyCommand } from './commands/verify.ts';
import type { ExitCode } from './exit.ts';

/** Tells the process how the command ended. */
export type SetExit = (code: ExitCode) => void;

const commands = [
  sendCommand,
  simulateCommand,
  verifyCommand,
  doctorCommand,
  listenCommand,
  pruneCommand,
  migrateCommand,
  statusCommand,
];

/** The whole command line. Each command is a file in `commands/`, and its work is in the folder of its name. */
export function makeProgram(setExit: SetExit): Command {
  const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
  const program = new Command('factuarea-webhook')
    .description('Play Factuarea at your webhook receiver, judge it, watch deliveries as they come.')
    .version(version)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('Add --help for the options and examples.');
  for (const command of commands) program.addCommand(command(setExit).exitOverride().copyInheritedSettings(program));
  program.addHelpText(
    'after',
    `
Exit codes:
  0  everything asked for holds
  1  carried out, and the answer is no: not delivered, does not verify, a check failed, an event was lost
  2  called wrongly: an unknown option, a missing file, a URL that is none
  3  could not be carried out: nobody answers, the store cannot be reached, a driver is missing

The secret is taken from FACTUAREA_WEBHOOK_SECRET (commas between several) unless --secret is given.
Colours follow NO_COLOR and the terminal; --json is for machines.`,
  );
  return program;
}
