import { FactuareaWebhookError } from '@factuarea-webhook/core';

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
 * Writes a value as Factuarea does, with PHP's `json_encode`: everything outside ASCII as `\uXXXX`, slashes as `\/`,
 * whole amounts as `121.0`. A receiver that parses such a body and writes it anew gets other bytes, and so another
 * signature.
 *
 * @throws `config_error` for a number that JSON cannot hold.
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
  if (typeof value === 'number') return number(value, floats.has(key));
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'object' || value === null) return 'null';
  if (Array.isArray(value)) return `[${value.map((one) => write(one, key)).join(',')}]`;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{${entries.map(([name, one]) => `${text(name)}:${write(one, name)}`).join(',')}}`;
}

function text(value: string): string {
  // Code unit by code unit, as PHP writes what lies beyond the basic plane: as the two halves of its surrogate pair.
  const escaped = value.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be escaped here.
    /["\\/\u0000-\u001f\u0080-\uffff]/g,
    (unit) => escapes[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `"${escaped}"`;
}

function number(value: number, isFloat: boolean): string {
  if (!Number.isFinite(value)) throw new FactuareaWebhookError('config_error', `JSON has no way to write ${value}.`);
  if (Number.isInteger(value) && !isFloat) return String(value);
  const size = Math.abs(value);
  // The bounds beyond which PHP writes an exponent; JavaScript has others.
  if (size !== 0 && (size < 1e-4 || size >= 1e17)) {
    const [digits = '', exponent] = value.toExponential().split('e');
    return `${digits.includes('.') ? digits : `${digits}.0`}e${exponent}`;
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
