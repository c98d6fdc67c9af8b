/** What the process's exit code says. Scripts rely on these, so they never change meaning. */
export const exit = {
  /** Everything asked for holds. */
  ok: 0,
  /** It was carried out, and the answer is no: not delivered, does not verify, a check failed, an event was lost. */
  no: 1,
  /** The command was called wrongly: an unknown option, a file that is not there, a URL that is none. */
  usage: 2,
  /** It could not be carried out: nobody answers at the URL, the store cannot be reached, a driver is missing. */
  unable: 3,
} as const;

export type ExitCode = (typeof exit)[keyof typeof exit];

/** An error meant for the person at the terminal: what happened, why, what to do. Shown without a stack. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

export function usageError(message: string): CliError {
  return new CliError(exit.usage, message);
}

export function unable(message: string, cause?: unknown): CliError {
  return new CliError(exit.unable, message, { cause });
}

/** The message of whatever was thrown. Node's connection errors can be empty, with the reason in `code` or inside. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0]);
  if (error instanceof Error) return error.message || String((error as { code?: unknown }).code ?? error.name);
  return String(error);
}
