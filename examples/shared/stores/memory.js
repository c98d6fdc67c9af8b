// @ts-check
import { memoryStore } from '@factuarea-webhook/core';

/** @type {import('../store.js').Open} */
export async function open() {
  /** @type {import('../store.js').Entry[]} */
  const entries = [];
  return {
    store: memoryStore(),
    handled: { add: (entry) => entries.push(entry), list: () => entries },
    close() {},
  };
}
