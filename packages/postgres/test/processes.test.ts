import { join } from 'node:path';
import { postgresStore } from '@factuarea-webhook/postgres';
import { processSuite } from '../../../tests/failures/process-suite.ts';
import { effectsTable, place, url } from './support.ts';

for (const mode of ['transaction', 'lease'] as const) {
  processSuite({
    name: `postgres, ${mode} mode`,
    rig: join(__dirname, 'rig.ts'),
    transactional: mode === 'transaction',
    async create() {
      const here = await place();
      const pool = here.pool();
      await postgresStore(pool, { mode }).migrate();
      await pool.query(effectsTable);
      return {
        settings: { url, schema: here.schema, mode },
        async effects() {
          const { rows } = await pool.query('SELECT id, count(*)::int AS count FROM effects GROUP BY id');
          return new Map(rows.map(({ id, count }) => [String(id), Number(count)]));
        },
        close: here.close,
      };
    },
  });
}
