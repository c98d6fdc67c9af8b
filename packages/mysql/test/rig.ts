import { createPool, type Pool } from 'mysql2/promise';
import type { Rig } from '../../../tests/failures/rig.ts';
import { mysqlStore } from '../src/index.ts';

/** The effect of an event is a row that repeats can be seen in: through `tx` where there is one. */
export async function open(settings: Readonly<Record<string, unknown>>): Promise<Rig<unknown>> {
  const pool = createPool({ uri: String(settings['url']), connectionLimit: 10 });
  const table = String(settings['table']);
  const insert = `INSERT INTO ${settings['effects']} VALUES (?)`;
  const store = settings['mode'] === 'lease' ? mysqlStore(pool, { mode: 'lease', table }) : mysqlStore(pool, { table });
  return {
    store: store as Rig<unknown>['store'],
    async effect(id, tx) {
      await ((tx as Pool | undefined) ?? pool).query(insert, [id]);
    },
  };
}
