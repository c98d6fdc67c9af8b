let told = false;

/**
 * Says on the console, once in a process, that the transaction which a store had lent to a handler was ended meanwhile: no
 * answer shows it, and what was committed that way happens again where the handler then fails.
 */
export function warnOfOwnEnd(): void {
  if (told) return;
  told = true;
  console.warn(
    'Factuarea webhook: the transaction of `context.tx` was ended by its handler: by COMMIT, ROLLBACK, a statement that commits, or a deadlock that it caught. What it committed happens again if it then fails. Leave the transaction to the store; use savepoints.',
    { code: 'transaction_ended_by_handler' },
  );
}
