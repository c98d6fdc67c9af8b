import { storeContract } from '@factuarea-webhook/testing/store-contract';
import { describe, test } from '@jest/globals';
import type { PoolConnection } from 'mysql2/promise';
import { mysqlStore } from '../src/index.ts';
import { connect, freshTable } from './support.ts';

storeContract(
  {
    name: 'mysql, lease mode',
    prunes: true,
    forgets: true,
    async create() {
      const [pool, other] = [connect(), connect()];
      const options = { mode: 'lease', table: freshTable() } as const;
      const store = mysqlStore(pool, options);
      await store.migrate();
      return {
        store,
        second: mysqlStore(other, options),
        forget: store.forget,
        close: () => Promise.all([pool.end(), other.end()]),
      };
    },
  },
  { describe, test },
);

storeContract<PoolConnection>(
  {
    name: 'mysql, transaction mode',
    transactional: true,
    prunes: true,
    forgets: true,
    async create() {
      const [pool, other] = [connect(), connect()];
      const [table, effects] = [freshTable(), freshTable('effects')];
      const store = mysqlStore(pool, { table });
      await store.migrate();
      await pool.query(`CREATE TABLE ${effects} (id VARCHAR(255) COLLATE utf8mb4_bin NOT NULL)`);
      return {
        store,
        second: mysqlStore(other, { table }),
        forget: store.forget,
        effect: (tx, id) => tx.query(`INSERT INTO ${effects} VALUES (?)`, [id]),
        async countEffects(id) {
          const [rows] = await pool.query(`SELECT COUNT(*) AS count FROM ${effects} WHERE id = ?`, [id]);
          return (rows as { count: number }[])[0]?.count ?? 0;
        },
        close: () => Promise.all([pool.end(), other.end()]),
      };
    },
  },
  { describe, test },
);
