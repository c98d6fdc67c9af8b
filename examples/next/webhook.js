// @ts-check
import { namedSecrets, settings } from 'factuarea-webhook-example-shared/settings.js';
import { openStore } from 'factuarea-webhook-example-shared/store.js';

/** @typedef {import('factuarea-webhook-example-shared/store.js').Opened} Opened */

/**
 * Opened with the first event: `next build` imports this too, and needs no store. Kept in one place of the process,
 * since Next loads a module once for every route.
 */
const holder = /** @type {{ opened?: Promise<Opened> }} */ (globalThis);

export const opened = () => (holder.opened ??= openStore(settings().storeUrl));

/** @type {Opened['store']} */
const store = { claim: async (id, times) => (await opened()).store.claim(id, times) };

export const options = { secret: namedSecrets(), store, timeoutSeconds: settings().timeoutSeconds };
