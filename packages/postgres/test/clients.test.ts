import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type PostgresStore, postgresStore } from '@factuarea-webhook/postgres';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { drizzle } from 'drizzle-orm/node-postgres';
import { pgTable, text } from 'drizzle-orm/pg-core';
import type { Pool, PoolClient } from 'pg';
import { countEffects, effectsTable, type Place, place, receiving, url } from './support.ts';

let here: Place;
let pool: Pool;
let store: PostgresStore<PoolClient>;

beforeAll(async () => {
  here = await place();
  pool = here.pool();
  store = postgresStore(pool);
  await store.migrate();
  await pool.query(effectsTable);
});
afterAll(() => here.close());

test('Drizzle writes through `tx`', async () => {
  const effects = pgTable('effects', { id: text('id').notNull() });
  let fails = true;
  const post = receiving({
    store,
    async handler(event, { tx }) {
      await drizzle({ client: tx }).insert(effects).values({ id: event.id });
      if (fails) throw new Error('After the write.');
    },
  });
  expect(await post('drizzle')).toMatchObject({ code: 'handler_failed' });
  expect(await countEffects(pool, 'drizzle')).toBe(0);
  fails = false;
  expect(await post('drizzle')).toMatchObject({ code: 'handled' });
  expect(await post('drizzle')).toMatchObject({ code: 'repeat' });
  expect(await countEffects(pool, 'drizzle')).toBe(1);
});

/** Runs what is an ES module, or more than jest bears, in a process of its own. Gives what it wrote. */
async function child(file: string, ...given: string[]): Promise<unknown> {
  const register = join(__dirname, '..', '..', '..', 'tests', 'failures', 'register.cjs');
  const { stdout } = await promisify(execFile)(process.execPath, [register, join(__dirname, file), ...given]);
  return JSON.parse(stdout);
}

test('Kysely writes through `tx`', async () => {
  expect(await child('kysely-child.ts', url, here.schema)).toEqual(['handler_failed', 0, 'handled', 1, 'repeat', 1]);
}, 60_000);

test('PGlite, by a small adapter', async () => {
  expect(await child('pglite-child.ts')).toEqual({
    answers: ['500 handler_failed', '500 commit_failed', '200 handled', '503 in_progress', '200 repeat'],
    effects: ['evt_1'],
    lease: ['mine', true],
    pruned: 1,
  });
}, 60_000);
