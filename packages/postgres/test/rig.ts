import { postgresStore } from '@factuarea-webhook/postgres';
import { Pool } from 'pg';
import type { Rig } from '../../../tests/failures/rig.ts';
import { effect } from './support.ts';

/** The store as the failure tests' child processes open it. */
export async function open({ url, schema, mode }: Readonly<Record<string, unknown>>): Promise<Rig<unknown>> {
  const pool = new Pool({
    connectionString: String(url),
    options: `-c search_path=${schema}`,
    connectionTimeoutMillis: 2000,
  });
  return {
    store: postgresStore(pool, { mode: mode === 'lease' ? 'lease' : 'transaction' }),
    effect: async (id, tx) => effect((tx as Pool | undefined) ?? pool, id),
  };
}
