import { configError } from './errors.ts';

/**
 * Splits `table` or `schema.table` into its parts, to be quoted by `quoteName`.
 *
 * @throws `config_error` for anything but one or two names of letters, digits, `_`, `$` and `-`, 63 characters at most.
 */
export function splitName(option: string, name: unknown): string[] {
  const parts = typeof name === 'string' ? name.split('.') : [];
  if (parts.length >= 1 && parts.length <= 2 && parts.every((part) => /^[\p{L}_][\p{L}\p{N}_$-]{0,62}$/u.test(part))) {
    return parts;
  }
  throw configError(
    `\`${option}\` must be a name or \`schema.name\`, each of letters, digits, "_", "$" and "-", starting with a letter.`,
  );
}

/** Writes a name's parts as SQL: `quoteName(['app', 'events'])` is `"app"."events"`. */
export function quoteName(parts: readonly string[], quote: '"' | '`' = '"'): string {
  return parts.map((part) => quote + part.replaceAll(quote, quote + quote) + quote).join('.');
}
