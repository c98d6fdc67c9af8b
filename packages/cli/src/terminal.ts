import Table from 'cli-table3';
import { createSpinner } from 'nanospinner';
import { colour as pc } from './colour.ts';

/** Writes a result. Results go to stdout, everything else to stderr. */
export function print(text = ''): void {
  process.stdout.write(`${text}\n`);
}

/** Writes a remark for people, where it does not get into a pipe. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Writes a result for machines. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/**
 * Makes text from elsewhere safe for a terminal: control characters could move the cursor, change colours or set the
 * window's title.
 */
export function safe(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (unit) =>
    unit === '\n' || unit === '\t' ? ' ' : `\\u${(unit.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

/** Shortens a text to one that fits a cell. */
export function short(text: string, most = 120): string {
  const units = Array.from(text);
  return units.length > most ? `${units.slice(0, most - 1).join('')}…` : text;
}

/** A table as wide as its content, without borders when it goes into a pipe. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  widths?: readonly number[],
): string {
  const plain = !process.stdout.isTTY;
  const made = new Table({
    head: head.map((name) => pc.bold(name)),
    style: { head: [], border: [], compact: true, 'padding-left': plain ? 0 : 1, 'padding-right': plain ? 2 : 1 },
    wordWrap: true,
    ...(widths && { colWidths: [...widths] }),
    ...(plain && { chars: borderless }),
  });
  made.push(...rows.map((row) => [...row]));
  return made.toString().replace(/[ \t]+$/gm, '');
}

const borderless: Record<string, string> = Object.fromEntries(
  [
    ...['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'],
    ...['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'],
  ].map((name) => [name, '']),
);

/** The width people can read along. */
export function columns(): number {
  return Math.min(Math.max(process.stdout.columns ?? 100, 60), 140);
}

export interface Progress {
  say(text: string): void;
  stop(): void;
}

/** Shows that something goes on, on stderr; says nothing where nobody watches. */
export function progress(text: string, quiet = false): Progress {
  if (quiet || !process.stderr.isTTY) return { say() {}, stop() {} };
  const spinner = createSpinner(text, { stream: process.stderr }).start();
  return {
    say: (next) => spinner.update({ text: next }),
    stop: () => spinner.clear().stop(),
  };
}

export { pc as colour };
