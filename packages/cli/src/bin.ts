#!/usr/bin/env node
import { CommanderError } from 'commander';
import { CliError, exit, messageOf } from './exit.ts';
import { makeProgram } from './program.ts';
import { colour, note, printJson, safe } from './terminal.ts';

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exit.ok);
  throw error;
});

try {
  await makeProgram((code) => {
    process.exitCode = code;
  }).parseAsync();
} catch (error) {
  process.exitCode = fail(error);
}

function fail(error: unknown): number {
  // Commander has written its own message; help and version end here too, with 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exit.ok : exit.usage;
  const known = error instanceof CliError;
  const message = safe(messageOf(error));
  if (process.argv.includes('--json')) printJson({ error: message });
  note(`${colour.red('error:')} ${message}`);
  if (!known && error instanceof Error && error.stack) note(colour.dim(error.stack));
  return known ? error.exitCode : exit.unable;
}
