import { configError } from './errors.ts';

/**
 * Refuses options that do not exist: a misspelt one would otherwise be a preset that nobody chose.
 *
 * @throws `config_error`, which lists the names that there are.
 */
export function checkNames(options: object, names: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw configError(`There is no option \`${unknown}\`. The options are: ${names.join(', ')}.`);
  }
}

/**
 * A store's option `timeoutSeconds`, in milliseconds; undefined where it is left to the receiver.
 *
 * @throws `config_error` where it is no number from 0.05 to 30.
 */
export function timeoutMsOf(timeoutSeconds: number | undefined): number | undefined {
  if (timeoutSeconds === undefined) return undefined;
  if (timeoutSeconds >= 0.05 && timeoutSeconds <= 30) return timeoutSeconds * 1000;
  throw configError('`timeoutSeconds` must be a number from 0.05 to 30.');
}
