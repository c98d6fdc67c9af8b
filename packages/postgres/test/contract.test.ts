import { postgresStore } from '@factuarea-webhook/postgres';
import { storeContract } from '@factuarea-webhook/testing/store-contract';
import { describe, test } from '@jest/globals';
import type { PoolClient } from 'pg';
import { countEffects, effect, effectsTable, place } from './support.ts';

storeContract<PoolClient>(
  {
    name: 'postgres, transaction mode',
    transactional: true,
    prunes: true,
    forgets: true,
    async create() {
      const here = await place();
      // More places than ids that the contract holds at once.
      const pool = here.pool({ max: 30 });
      const store = postgresStore(pool);
      await store.migrate();
      await pool.query(effectsTable);
      return {
        store,
        second: postgresStore(here.pool({ max: 30 })),
        forget: store.forget,
        effect,
        countEffects: (id) => countEffects(pool, id),
        close: here.close,
      };
    },
  },
  { describe, test },
);

storeContract(
  {
    name: 'postgres, lease mode',
    prunes: true,
    forgets: true,
    async create() {
      const here = await place();
      const store = postgresStore(here.pool(), { mode: 'lease' });
      await store.migrate();
      return {
        store,
        second: postgresStore(here.pool(), { mode: 'lease' }),
        forget: store.forget,
        close: here.close,
      };
    },
  },
  { describe, test },
);
