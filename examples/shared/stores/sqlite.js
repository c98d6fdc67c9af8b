// @ts-check
import { sqliteStore } from '@factuarea-webhook/sqlite';
import Database from 'libsql';

/** @type {import('../store.js').Open} */
export async function open(url) {
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
      add: ({ id, type, resource, endpoint, at }) => insert.run(id, type, resource, endpoint, at),
      list: () => /** @type {import('../store.js').Entry[]} */ (select.all()),
    },
    close: () => database.close(),
  };
}
