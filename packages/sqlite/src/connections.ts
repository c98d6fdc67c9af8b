import { FactuareaWebhookError } from '@factuarea-webhook/core';
import { first, type SqliteDatabase } from './driver.ts';

/** Where a store's connections come from. */
export interface Connections {
  /** The one that the store keeps: the app's, or one of its own. */
  shared(): SqliteDatabase;
  /** One more, for a transaction. Whoever asks for it closes it. */
  fresh(): SqliteDatabase;
  /** Closes the shared one where the store has opened it. */
  close(): void;
}

export function connections(source: SqliteDatabase | (() => SqliteDatabase)): Connections {
  const seen = new WeakSet<SqliteDatabase>();
  let kept: SqliteDatabase | undefined;
  let closed = false;

  function open(): SqliteDatabase {
    if (typeof source !== 'function') return source;
    if (closed) throw new FactuareaWebhookError('store_unavailable', 'The store has been closed.');
    const database = source();
    if (seen.has(database)) {
      throw new FactuareaWebhookError('config_error', 'The function must open a new connection whenever it is called.');
    }
    seen.add(database);
    return database;
  }

  return {
    shared() {
      kept ??= open();
      return kept;
    },
    fresh() {
      const database = open();
      // In memory every connection has data of its own, so that the mark would be written where nobody looks.
      const main = first(database, "SELECT file FROM pragma_database_list WHERE name = 'main'");
      if (main?.['file']) return database;
      database.close();
      throw new FactuareaWebhookError(
        'config_error',
        'Transaction mode needs a file: a database in memory is not shared.',
      );
    },
    close() {
      closed = true;
      if (typeof source === 'function') kept?.close();
      kept = undefined;
    },
  };
}
