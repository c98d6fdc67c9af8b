/**
 * Writes any text as an SQL literal. Escaped down to letters, digits, `_` and `-`, so that no setting can give it another
 * meaning. A literal, because it takes on the column's collation: `convert_from(…)` brings the collation "C" with it, and
 * compared by that no index of another collation is of use, so that every repeat read the whole table.
 */
export function text(value: string): string {
  const escaped = value.replace(/[^\w-]/gu, (one) => `\\U${(one.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`);
  return `E'${escaped}'`;
}

/** A number of milliseconds as an interval. */
export function interval(ms: number): string {
  return `interval '${Math.ceil(ms)} milliseconds'`;
}

/** One message, one round trip, one transaction of its own, whatever isolation the session is set to. */
export function alone(statement: string, timeoutMs: number): string {
  return `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = ${Math.ceil(timeoutMs)}; ${statement}; COMMIT`;
}
