import { readFile } from 'node:fs/promises';
import { messageOf, usageError } from './exit.ts';

export const SECRET_VARIABLE = 'FACTUAREA_WEBHOOK_SECRET';

/** The secrets to use: the option's, else the environment's, with commas between several. */
export function secretsFrom(given: readonly string[] | undefined): string[] {
  if (given && given.length > 0) return [...given];
  const fromEnvironment = process.env[SECRET_VARIABLE];
  return fromEnvironment ? fromEnvironment.split(',').filter((one) => one.trim() !== '') : [];
}

/** @throws a usage error where there is none. */
export function requireSecrets(given: readonly string[] | undefined): string[] {
  const secrets = secretsFrom(given).map((one) => one.trim());
  if (secrets.length > 0 && secrets.every((one) => one !== '')) return secrets;
  throw usageError(`No secret. Set ${SECRET_VARIABLE}, or give --secret with the endpoint's whsec_… string.`);
}

/** @throws a usage error unless `text` is an http(s) URL. */
export function httpUrl(text: string): URL {
  // `localhost:3000/path` parses as a URL of the scheme `localhost:`, so the scheme is asked for first.
  const withScheme = /^https?:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(withScheme) || /^[a-z][a-z0-9+.-]*:\/\//i.test(text) !== (withScheme === text)) {
    throw usageError(`"${text}" is not a URL. Give the receiver's, such as http://localhost:3000/factuarea/webhook.`);
  }
  return new URL(withScheme);
}

/** Reads a file, or standard input for `-`. */
export async function readInput(path: string): Promise<Buffer> {
  if (path === '-') {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }
  try {
    return await readFile(path);
  } catch (error) {
    throw usageError(`Cannot read ${path}: ${messageOf(error)}`);
  }
}

/** Reads a JSON object for an event's `data`. */
export async function readData(path: string): Promise<Record<string, unknown>> {
  const text = (await readInput(path)).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usageError(`${path} is not JSON: ${messageOf(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw usageError(`${path} holds no JSON object. It becomes the event's "data".`);
  }
  return value as Record<string, unknown>;
}

/** A parser for commander: a number within bounds. */
export function numberOption(name: string, least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && value >= least && value <= most) return value;
    throw usageError(`${name} must be a number from ${least} to ${most}.`);
  };
}

/** Collects an option that may be given several times. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}
