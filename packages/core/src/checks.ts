import { configError } from './errors.ts';

/**
 * Refuses what is no object, and options that do not exist: a misspelt one would otherwise be a preset that nobody chose.
 *
 * @throws `config_error`, which lists the names that there are.
 */
export function checkNames(options: object, names: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw configError(`The options must be an object. They are: ${names.join(', ')}.`);
  }
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
  return timeoutSeconds === undefined ? undefined : between('timeoutSeconds', timeoutSeconds, 0, 0.05, 30) * 1000;
}

/**
 * A number within bounds, or the preset where none is given. A text is no number, even one of digits: `'10' * 2` would
 * work by luck, and `'10' + 2` would not.
 *
 * @throws `config_error` for everything else.
 */
export function between(name: string, value: unknown, preset: number, least: number, most: number): number {
  if (value === undefined) return preset;
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw configError(`\`${name}\` must be a number from ${least} to ${most}.`);
}

/**
 * The id that a store is told to forget. What is no text would not be found, or be taken by the driver for another id.
 *
 * @throws `config_error` for everything but a text with something in it.
 */
export function eventIdOf(id: string): string {
  if (typeof id === 'string' && id !== '') return id;
  throw configError('`forget` takes the id of one event, as a text.');
}
