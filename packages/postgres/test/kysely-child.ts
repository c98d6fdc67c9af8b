import { postgresStore } from '@factuarea-webhook/postgres';
import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import { countEffects, receiving } from './support.ts';

async function main(url: string, schema: string): Promise<unknown[]> {
  const pool = new Pool({ connectionString: url, options: `-c search_path=${schema}` });
  let fails = true;
  const post = receiving({
    store: postgresStore(pool),
    async handler(event, { tx }) {
      const db = new Kysely<{ effects: { id: string } }>({
        dialect: new PostgresDialect({ pool: { connect: async () => tx, end: async () => {}, options: {} } }),
      });
      await db.insertInto('effects').values({ id: event.id }).execute();
      if (fails) throw new Error('After the write.');
    },
  });
  const seen: unknown[] = [];
  for (let round = 0; round < 3; round++) {
    seen.push((await post('kysely')).code, await countEffects(pool, 'kysely'));
    fails = false;
  }
  await pool.end();
  return seen;
}

main(String(process.argv[3]), String(process.argv[4])).then(
  (seen) => console.log(JSON.stringify(seen)),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
