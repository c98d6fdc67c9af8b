import { uuidV7 } from '@factuarea-webhook/testing';
import { usageError } from '../exit.ts';

/** How a receiver's test set-up is made to fail or to be slow: by the event's type, or by how the resource's id ends. */
export type Wanted = { readonly type: string } | { readonly ending: string };

/**
 * Reads `--fails` and `--slow`: a type, such as `test.fails`, or an asterisk and an ending, such as `*-fail-once`.
 *
 * @throws a usage error for anything else.
 */
export function readWanted(option: string, text: string): Wanted {
  if (/^\*[!-~]{1,60}$/.test(text)) return { ending: text.slice(1) };
  if (/^[!-)+-~][!-~]{0,254}$/.test(text)) return { type: text };
  throw usageError(`${option} must be an event type, or * and how the resource's id ends, such as '*-fail-once'.`);
}

/** Whether the receiver can be told so, in words. */
export function wantedText(wanted: Wanted): string {
  return 'type' in wanted ? `an event of type ${wanted.type}` : `an event whose resource's id ends in ${wanted.ending}`;
}

/** A resource's id that is told apart by its ending. */
export function resourceIdFor(wanted: Wanted | undefined): string {
  return `${uuidV7()}${wanted && 'ending' in wanted ? wanted.ending : ''}`;
}
