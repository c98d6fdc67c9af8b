// @ts-check

/**
 * @typedef {{ id: string, type: string, resource: string | null, endpoint: string | null, at: string }} Entry
 * @typedef {{ add(entry: Entry, tx: unknown): unknown, list(): Entry[] | Promise<Entry[]> }} Handled What the app has
 *   done, kept beside the ids. `tx` is the store's open transaction, where it has one.
 * @typedef {{ store: import('@factuarea-webhook/core').Store<unknown>, handled: Handled, close(): unknown }} Opened
 * @typedef {(url: string) => Promise<Opened>} Open
 */

/** What a URL begins with, and the file that opens it. Only the driver that is asked for is loaded. */
const kinds = new Map(
  Object.entries({
    'memory:': () => import('./stores/memory.js'),
    'sqlite:': () => import('./stores/sqlite.js'),
    'postgres:': () => import('./stores/postgres.js'),
    'postgresql:': () => import('./stores/postgres.js'),
    'mysql:': () => import('./stores/mysql.js'),
    'redis:': () => import('./stores/redis.js'),
  }),
);

/**
 * Opens what STORE_URL names.
 *
 * @param {string} url
 * @returns {Promise<Opened>}
 */
export async function openStore(url) {
  const load = kinds.get(url.slice(0, url.indexOf(':') + 1));
  // The address may hold a password, so it is not repeated.
  if (!load) throw new Error(`STORE_URL must begin with one of: ${[...kinds.keys()].join(', ')}. See README.md.`);
  const { open } = await load();
  return open(url);
}
