// @ts-check
import { memoryStore } from '@factuarea-webhook/core';
import { sqliteStore } from '@factuarea-webhook/sqlite';
import Database from 'libsql';

/**
 * @typedef {{ id: string, type: string, resource: string | null, endpoint: string | null, at: string }} Entry
 * @typedef {{ add(entry: Entry): void, list(): Entry[] }} Handled What the app has done, kept beside the ids.
 * @typedef {{ store: import('@factuarea-webhook/core').Store, handled: Handled, close(): void }} Opened
 */

/** @typedef {(url: string) => Opened | Promise<Opened>} Open */

const kinds = new Map(
  /** @type {[string, Open][]} */ ([
    ['memory:', inMemory],
    ['sqlite:', inSqlite],
  ]),
);

/**
 * Opens what STORE_URL names.
 *
 * @param {string} url
 */
export async function openStore(url) {
  const open = kinds.get(url.slice(0, url.indexOf(':') + 1));
  // The address may hold a password, so it is not repeated.
  if (!open) throw new Error(`STORE_URL must begin with one of: ${[...kinds.keys()].join(', ')}. See README.md.`);
  return open(url);
}

/** @returns {Opened} */
function inMemory() {
  /** @type {Entry[]} */
  const entries = [];
  return {
    store: memoryStore(),
    handled: { add: (entry) => entries.push(entry), list: () => entries },
    close() {},
  };
}

/**
 * @param {string} url
 * @returns {Promise<Opened>}
 */
async function inSqlite(url) {
  const database = new Database(url.slice('sqlite:'.length));
  const store = sqliteStore(database);
  await store.migrate();
  database.exec(
    'CREATE TABLE IF NOT EXISTS handled (id TEXT NOT NULL, type TEXT NOT NULL, resource TEXT, endpoint TEXT, at TEXT NOT NULL)',
  );
  const insert = database.prepare('INSERT INTO handled VALUES (?, ?, ?, ?, ?)');
  const select = database.prepare('SELECT id, type, resource, endpoint, at FROM handled ORDER BY rowid');
  return {
    store,
    handled: {
      /** @param {Entry} entry */
      add: ({ id, type, resource, endpoint, at }) => insert.run(id, type, resource, endpoint, at),
      list: () => /** @type {Entry[]} */ (select.all()),
    },
    close: () => database.close(),
  };
}
