import type { Rig } from '../../../tests/failures/rig.ts';
import { type SqliteDatabase, sqliteStore } from '../src/index.ts';
import { libsql } from './drivers.ts';

/** The effect of an event is a row in the same file: through the open transaction, or by the app's own connection. */
export async function open(settings: Readonly<Record<string, unknown>>): Promise<Rig<SqliteDatabase | undefined>> {
  const connect = (): SqliteDatabase => libsql.open(String(settings['path']));
  const app = connect();
  app.exec('PRAGMA busy_timeout = 5000');
  const effect = async (id: string, tx: SqliteDatabase = app): Promise<void> => {
    tx.prepare('INSERT INTO effects VALUES (?)').run(id);
  };
  if (settings['mode'] === 'transaction') return { store: sqliteStore(connect, { mode: 'transaction' }), effect };
  return { store: sqliteStore(connect), effect };
}
