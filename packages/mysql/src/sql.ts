/**
 * Writes any text as an SQL expression. Made of hex digits alone, so that neither the connection's character set nor
 * the server's `sql_mode` can give it another meaning; a literal, so that it is compared by the column's collation.
 */
export function text(value: string): string {
  return `_utf8mb4 X'${hex(value)}'`;
}

/** The bytes of a text, as MySQL's HEX() writes them. */
export function hex(value: string): string {
  let digits = '';
  for (const byte of new TextEncoder().encode(value)) digits += byte.toString(16).padStart(2, '0');
  return digits.toUpperCase();
}

/** Milliseconds as an interval. */
export function interval(ms: number): string {
  return `INTERVAL ${Math.ceil(ms * 1000)} MICROSECOND`;
}

/** Microseconds since 1970 by the server's clock. Not by UNIX_TIMESTAMP(NOW()), which an hour of each year has twice. */
export const CLOCK = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

/** Statements for one row: which one, and whether it is the very id that was asked for. */
export function rowOf(id: string): { readonly at: string; readonly exactly: string } {
  const at = `event_id = ${text(id)}`;
  // Under the guide's usual collation `=` folds case, accents and blanks at the end.
  return { at, exactly: `${at} AND HEX(CONVERT(event_id USING utf8mb4)) = '${hex(id)}'` };
}
