import { join } from 'node:path';
import type { Store } from '@factuarea-webhook/core';
import { pruneSuite } from '../../../tests/failures/prune-suite.ts';
import { type SqliteDatabase, sqliteStore } from '../src/index.ts';
import { libsql, temporaryFile } from './drivers.ts';

for (const mode of ['lease', 'transaction'] as const) {
  pruneSuite({
    name: `sqlite, ${mode} mode`,
    rig: join(__dirname, 'rig.ts'),
    serial: mode === 'transaction',
    async create() {
      const { path, remove } = temporaryFile();
      const connect = (): SqliteDatabase => libsql.open(path);
      const store = mode === 'lease' ? sqliteStore(connect) : sqliteStore(connect, { mode });
      await store.migrate();
      const database = connect();
      let filled = 0;
      return {
        settings: { path, mode },
        store: store as Store<unknown>,
        async fill(count) {
          database
            .prepare(
              `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
               INSERT INTO factuarea_webhook_events (event_id, token, leased_until, done_at)
               SELECT lower(hex(randomblob(16))), 't', 0, (unixepoch() - 8640000) * 1000 + ? + i FROM n`,
            )
            .run(count, filled);
          filled += count;
        },
        async count() {
          const rows = database.prepare('SELECT count(*) AS count FROM factuarea_webhook_events').all();
          return Number((rows as { count: number }[])[0]?.count);
        },
        async close() {
          database.close();
          await store.close();
          remove();
        },
      };
    },
  });
}
