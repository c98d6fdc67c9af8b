import { join } from 'node:path';
import { postgresStore } from '@factuarea-webhook/postgres';
import { afterAll, beforeAll } from '@jest/globals';
import { Pool } from 'pg';
import { pruneSuite } from '../../../tests/failures/prune-suite.ts';
import { type OwnServer, ownServer } from './server.ts';

// One that writes to the disk, as in production: the tests' shared server does not.
let server: OwnServer;
beforeAll(async () => {
  server = await ownServer({});
});
afterAll(() => server.stop());

for (const mode of ['transaction', 'lease'] as const) {
  pruneSuite({
    name: `postgres, ${mode} mode`,
    rig: join(__dirname, 'rig.ts'),
    old: 20_000,
    async create() {
      const pool = new Pool({ connectionString: server.url });
      const store = postgresStore(pool, { mode });
      await store.migrate();
      const table = mode === 'lease' ? 'factuarea_webhook_leases' : 'processed_webhook_events';
      const at = "now() - interval '100 days'";
      return {
        settings: { url: server.url, schema: 'public', mode },
        store,
        fill: (count) =>
          pool.query(
            `INSERT INTO ${table} SELECT gen_random_uuid(), ${at}${mode === 'lease' ? `, ${at}, true, 1` : ''} FROM generate_series(1, ${count})`,
          ),
        async count() {
          return (await pool.query(`SELECT count(*)::int AS count FROM ${table}`)).rows[0].count;
        },
        close: () => pool.end(),
      };
    },
  });
}
