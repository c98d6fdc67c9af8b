const escapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** Keys whose numbers are floats at the sender, so that 121 is written `121.0`. */
const floats: ReadonlySet<string> = new Set(['amount', 'total']);

/**
 * Writes a value as PHP's `json_encode` does with its default flags: everything outside ASCII as `\uXXXX`, slashes as
 * `\/`. A receiver that parses and serialises such a body anew gets other bytes, and so another signature.
 *
 * @example
 * ```ts
 * phpJson({ name: 'Peña', url: 'https://example.com' }); // {"name":"Pe\u00f1a","url":"https:\/\/example.com"}
 * ```
 */
export function phpJson(value: unknown): string {
  return write(value, '');
}

function write(value: unknown, key: string): string {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number') return floats.has(key) ? float(value) : String(value);
  if (typeof value !== 'object' || value === null) return String(value ?? null);
  if (Array.isArray(value)) return `[${value.map((one) => write(one, key)).join(',')}]`;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{${entries.map(([name, one]) => `${text(name)}:${write(one, name)}`).join(',')}}`;
}

function text(value: string): string {
  // Code unit by code unit, as PHP writes astral characters: as the two halves of their surrogate pair.
  const escaped = value.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be escaped here.
    /["\\/\u0000-\u001f\u0080-\uffff]/g,
    (unit) => escapes[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `"${escaped}"`;
}

function float(value: number): string {
  const written = String(value);
  return /^-?\d+$/.test(written) ? `${written}.0` : written;
}
