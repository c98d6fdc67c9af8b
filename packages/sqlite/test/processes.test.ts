import { join } from 'node:path';
import { processSuite } from '../../../tests/failures/process-suite.ts';
import { libsql, temporaryFile } from './drivers.ts';

for (const mode of ['lease', 'transaction'] as const) {
  processSuite({
    name: `sqlite, ${mode} mode`,
    rig: join(__dirname, 'rig.ts'),
    transactional: mode === 'transaction',
    serial: mode === 'transaction',
    async create() {
      const { path, remove } = temporaryFile();
      const database = libsql.open(path);
      database.exec('CREATE TABLE effects (id TEXT NOT NULL)');
      return {
        settings: { path, mode },
        async effects() {
          const rows = database.prepare('SELECT id, count(*) AS count FROM effects GROUP BY id').all();
          return new Map((rows as { id: string; count: number }[]).map(({ id, count }) => [id, count]));
        },
        async close() {
          database.close();
          remove();
        },
      };
    },
  });
}
