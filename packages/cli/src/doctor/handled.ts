import { messageOf, unable } from '../exit.ts';

/** The receiver's own list of what it has handled. */
export interface HandledList {
  /** How many handler runs for this event have ended well. */
  count(id: string): Promise<number>;
}

/**
 * Reads the list at `url`: a JSON array with one entry per finished handler run, each the event's id or an object with
 * `id` (or `event_id`); or an object with that array as `handled`.
 *
 * @throws where the list cannot be read.
 */
export function handledList(url: URL): HandledList {
  return {
    async count(id) {
      return (await readList(url)).filter((one) => one === id).length;
    },
  };
}

export async function readList(url: URL): Promise<string[]> {
  let value: unknown;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000), headers: { accept: 'application/json' } });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    value = await response.json();
  } catch (error) {
    const cause = error instanceof Error && error.cause ? `: ${messageOf(error.cause)}` : '';
    throw unable(`The list at --handled ${url.href} cannot be read: ${messageOf(error)}${cause}.`, error);
  }
  const list = (Array.isArray(value) ? value : (value as { handled?: unknown } | null)?.handled) as unknown;
  if (!Array.isArray(list)) {
    throw unable(`${url.href} gave no list. It must be a JSON array with one entry (the event's id) per handler run.`);
  }
  return list.map((one: unknown) => {
    if (typeof one === 'string') return one;
    const { id, event_id } = (one ?? {}) as { id?: unknown; event_id?: unknown };
    return String(id ?? event_id ?? '');
  });
}
