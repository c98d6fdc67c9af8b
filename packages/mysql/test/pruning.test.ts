import { join } from 'node:path';
import type { Store } from '@factuarea-webhook/core';
import { pruneSuite } from '../../../tests/failures/prune-suite.ts';
import { mysqlStore } from '../src/index.ts';
import { connect, freshTable, sharedUrl } from './support.ts';

const digits = Array.from({ length: 10 }, (_, digit) => `SELECT ${digit} AS d`).join(' UNION ALL ');
const numbers = ['a', 'b', 'c', 'e'].map((name) => `(${digits}) AS ${name}`).join(', ');

for (const mode of ['transaction', 'lease'] as const) {
  pruneSuite({
    name: `mysql, ${mode} mode`,
    rig: join(__dirname, 'rig.ts'),
    old: 5000,
    async create() {
      const pool = connect();
      const table = freshTable();
      const store = mysqlStore(pool, { mode, table });
      await store.migrate();
      const [columns, values] =
        mode === 'lease'
          ? [', until, done, fence, token', ", UTC_TIMESTAMP(6) - INTERVAL 100 DAY, 1, 1, 'x'"]
          : ['', ''];
      return {
        settings: { url: sharedUrl(), mode, table, effects: 'none' },
        store: store as Store<unknown>,
        fill: (count) =>
          pool.query(
            `INSERT INTO ${table} (event_id, received_at${columns}) SELECT UUID(), UTC_TIMESTAMP(6) - INTERVAL 100 DAY${values} FROM ${numbers} LIMIT ${count}`,
          ),
        async count() {
          const [rows] = await pool.query(`SELECT COUNT(*) AS count FROM ${table}`);
          return Number((rows as { count: number }[])[0]?.count);
        },
        close: () => pool.end(),
      };
    },
  });
}
