/** Writes any text as an SQL expression. Made of hex digits alone, so that no setting can give it another meaning. */
export function text(value: string): string {
  let hex = '';
  for (const byte of new TextEncoder().encode(value)) hex += byte.toString(16).padStart(2, '0');
  return `convert_from(decode('${hex}', 'hex'), 'UTF8')`;
}

/** A number of milliseconds as an interval. */
export function interval(ms: number): string {
  return `interval '${Math.ceil(ms)} milliseconds'`;
}

/** One message, one round trip, one transaction of its own, whatever isolation the session is set to. */
export function alone(statement: string, timeoutMs: number): string {
  return `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = ${Math.ceil(timeoutMs)}; ${statement}; COMMIT`;
}
