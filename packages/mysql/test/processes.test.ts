import { join } from 'node:path';
import { processSuite } from '../../../tests/failures/process-suite.ts';
import { mysqlStore } from '../src/index.ts';
import { connect, freshTable, sharedUrl } from './support.ts';

for (const mode of ['transaction', 'lease'] as const) {
  processSuite({
    name: `mysql, ${mode} mode`,
    rig: join(__dirname, 'rig.ts'),
    transactional: mode === 'transaction',
    raceIds: mode === 'transaction' ? 200 : 50,
    async create() {
      const pool = connect();
      const [table, effects] = [freshTable(), freshTable('effects')];
      await mysqlStore(pool, { mode, table }).migrate();
      await pool.query(`CREATE TABLE ${effects} (id VARCHAR(255) COLLATE utf8mb4_bin NOT NULL)`);
      return {
        settings: { url: sharedUrl(), mode, table, effects },
        async effects() {
          const [rows] = await pool.query(`SELECT id, COUNT(*) AS count FROM ${effects} GROUP BY id`);
          return new Map((rows as { id: string; count: number }[]).map(({ id, count }) => [id, count]));
        },
        close: () => pool.end(),
      };
    },
  });
}
