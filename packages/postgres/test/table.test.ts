import { postgresStore } from '@factuarea-webhook/postgres';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Client, type Pool } from 'pg';
import { lifetimes, own, type Place, place, receiving } from './support.ts';

const uuid = '019b3c5e-7d10-7c2a-9b1e-2f6a4c8d0e11';

let here: Place;
let pool: Pool;
let tables = 0;

beforeAll(async () => {
  here = await place();
  pool = here.pool();
});
afterAll(() => here.close());

/** A table as people have it. */
async function table(idType: string, more = ''): Promise<string> {
  const name = `events_${tables++}`;
  await pool.query(
    `CREATE TABLE ${name} (event_id ${idType} NOT NULL PRIMARY KEY, received_at TIMESTAMP NOT NULL ${more});
     CREATE INDEX ON ${name} (received_at)`,
  );
  return name;
}

describe('the guide’s table as it stands', () => {
  test.each(['CHAR(36)', 'uuid', 'text', 'varchar(255)', 'varchar', 'varchar(36)'])('event_id %s', async (type) => {
    const name = await table(type);
    const old = uuid.replace('e11', 'e12');
    await pool.query(`INSERT INTO ${name} VALUES ('${old}', now() - interval '3 days')`);
    const store = postgresStore(pool, { table: name });
    const second = postgresStore(pool, { table: `${here.schema}.${name}` });

    expect(await store.claim(old, lifetimes)).toEqual({ state: 'done' });
    const claim = await own(store.claim(uuid, lifetimes));
    expect((await second.claim(uuid, lifetimes)).state).toBe('busy');
    expect(await claim.done()).toBe(true);
    expect(await second.claim(uuid, lifetimes)).toEqual({ state: 'done' });
    const { rows } = await pool.query(
      `SELECT event_id::text AS id, received_at > now() - interval '1 minute' AS fresh FROM ${name} ORDER BY received_at`,
    );
    expect(rows).toEqual([
      { id: old, fresh: false },
      { id: uuid, fresh: true },
    ]);
    expect(await store.prune({ olderThan: new Date(Date.now() - 86_400_000) })).toBe(1);
    expect(await store.forget(uuid)).toBe(true);
    expect(await store.stats()).toMatchObject({ count: 0, byDay: {} });
  });

  test.each(['CHAR(36)', 'uuid', 'text', 'varchar(255)'])(
    'event_id %s: every question goes to the index',
    async (type) => {
      const name = await table(type);
      await pool.query(
        `INSERT INTO ${name} SELECT gen_random_uuid()::text::${type}, now() FROM generate_series(1, 20000)`,
      );
      const asking = here.pool();
      const store = postgresStore(asking, { table: name });
      const second = postgresStore(asking, { table: name });
      const claim = await own(store.claim(uuid, lifetimes));
      expect((await second.claim(uuid, lifetimes)).state).toBe('busy');
      // A handler that commits by itself is warned of, in a test of its own.
      const warn = jest.spyOn(console, 'warn').mockReturnValue();
      await claim.tx.query('COMMIT');
      await claim.release();
      warn.mockRestore();
      await (await own(store.claim(uuid, lifetimes))).done();
      // After some repeats in a row it looks before it claims.
      for (let i = 0; i < 12; i++) expect(await store.claim(uuid, lifetimes)).toEqual({ state: 'done' });
      expect(await store.forget(uuid)).toBe(true);
      // A session reports what it has done when it ends, at the latest.
      await asking.end();
      const scans = async (): Promise<{ seq: number; idx: number }> =>
        (
          await pool.query(
            `SELECT seq_scan::int AS seq, idx_scan::int AS idx FROM pg_stat_user_tables WHERE relname = '${name}'`,
          )
        ).rows[0];
      while ((await scans()).idx < 15) await new Promise((resolve) => setTimeout(resolve, 20));
      // CREATE INDEX has read the table once.
      expect((await scans()).seq).toBeLessThanOrEqual(2);
    },
  );

  test('a domain over CHAR(36) and a table without the index on received_at', async () => {
    await pool.query(`CREATE DOMAIN event_key AS CHAR(36);
      CREATE TABLE by_domain (event_id event_key PRIMARY KEY, received_at timestamp NOT NULL)`);
    const store = postgresStore(pool, { table: 'by_domain' });
    expect(await (await own(store.claim(uuid, lifetimes))).done()).toBe(true);
    await expect(store.claim('x'.repeat(37), lifetimes)).rejects.toMatchObject({ code: 'store_unavailable' });
    await store.migrate();
    await store.migrate();
    const { rows } = await pool.query(`SELECT indexdef FROM pg_indexes WHERE tablename = 'by_domain'`);
    expect(rows.filter(({ indexdef }) => /\(received_at\)/.test(indexdef))).toHaveLength(1);
  });
});

describe('ids that the column would merge or cut', () => {
  test.each([
    ['uuid', uuid.toUpperCase(), /uuid/],
    ['uuid', `{${uuid}}`, /uuid/],
    ['uuid', uuid.replaceAll('-', ''), /uuid/],
    ['uuid', 'evt_1', /uuid/],
    ['CHAR(36)', `${uuid}x`, /holds 36 characters/],
    ['CHAR(36)', 'evt ', /blanks/],
    ['varchar(36)', '\u{1f600}'.repeat(37), /holds 36 characters/],
    ['integer', '7', /type int4/],
  ])('%s, %s: never a repeat, and told how to mend it', async (type, id, why) => {
    const name = await table(type);
    if (type === 'uuid') await pool.query(`INSERT INTO ${name} VALUES ('${uuid}', now())`);
    if (type === 'CHAR(36)') await pool.query(`INSERT INTO ${name} VALUES ('${id.slice(0, 36)}', now())`);
    const store = postgresStore(pool, { table: name });
    let runs = 0;
    const post = receiving({ store, handler: () => runs++ });

    await expect(store.claim(id, lifetimes)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(new RegExp(`${why.source}.*ALTER TABLE "${name}" ALTER COLUMN event_id`)),
    });
    if (!id.includes(' ')) expect(await post(id)).toMatchObject({ status: 503, code: 'store_unavailable' });
    expect(runs).toBe(0);

    await pool.query(`ALTER TABLE ${name} ALTER COLUMN event_id TYPE varchar(255) COLLATE "C" USING event_id::varchar`);
    expect(await (await own(store.claim(id, lifetimes))).done()).toBe(true);
  });

  test('characters are counted as Postgres counts them', async () => {
    const store = postgresStore(pool, { table: await table('CHAR(36)') });
    expect(await (await own(store.claim('\u{1f600}'.repeat(36), lifetimes))).done()).toBe(true);
  });

  test('a collation that folds case', async () => {
    const { rows } = await pool.query("SELECT FROM pg_collation WHERE collname = 'und-x-icu'");
    // Postgres may have been built without ICU: then there is no such collation to be caught by.
    if (rows.length === 0) return expect(rows).toEqual([]);
    await pool.query(
      `CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
       CREATE TABLE folded (event_id text COLLATE folding PRIMARY KEY, received_at timestamp NOT NULL)`,
    );
    await expect(postgresStore(pool, { table: 'folded' }).claim('evt', lifetimes)).rejects.toMatchObject({
      message: expect.stringContaining('collation'),
    });
    return undefined;
  });
});

describe('a table that cannot be used', () => {
  test.each([
    ['no table', '', 'migrate()'],
    ['no column received_at', 'CREATE TABLE bad (event_id text PRIMARY KEY)', 'received_at'],
    ['no unique event_id', 'CREATE TABLE bad (event_id text, received_at timestamp)', 'ADD PRIMARY KEY'],
    [
      'a further column',
      'CREATE TABLE bad (event_id text PRIMARY KEY, received_at timestamp, kind text NOT NULL)',
      'NOT NULL',
    ],
    [
      'leases',
      'CREATE TABLE bad (event_id text PRIMARY KEY, received_at timestamp, until int, done int, fence int, token int)',
      'leases',
    ],
  ])('%s', async (_, ddl, fix) => {
    await pool.query(`DROP TABLE IF EXISTS bad; ${ddl}`);
    await expect(postgresStore(pool, { table: 'bad' }).claim('evt', lifetimes)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining(fix),
    });
    await pool.query('DROP TABLE IF EXISTS bad');
  });

  test('mode lease on the guide’s table names what is missing', async () => {
    const store = postgresStore(pool, { table: await table('text'), mode: 'lease' });
    for (const call of [store.claim('evt', lifetimes), store.migrate()]) {
      await expect(call).rejects.toMatchObject({ message: expect.stringContaining('`until`') });
    }
  });

  test('a role without rights, and a connection that can only read', async () => {
    const name = await table('text');
    await pool.query(`DROP ROLE IF EXISTS nobody_here_${process.pid}; CREATE ROLE nobody_here_${process.pid}`);
    const options = (more: string) => `-c search_path=${here.schema} ${more}`;
    const poor = postgresStore(here.pool({ options: options(`-c role=nobody_here_${process.pid}`) }), { table: name });
    await pool.query(`GRANT USAGE ON SCHEMA ${here.schema} TO nobody_here_${process.pid}`);
    await expect(poor.claim('evt', lifetimes)).rejects.toMatchObject({ message: expect.stringContaining('GRANT') });
    const standby = here.pool({ options: options('-c default_transaction_read_only=on') });
    for (const mode of ['transaction', 'lease'] as const) {
      const store = postgresStore(standby, mode === 'lease' ? { mode } : { table: name });
      if (mode === 'lease') await postgresStore(pool, { mode }).migrate();
      await expect(store.claim('evt', lifetimes)).rejects.toMatchObject({
        message: expect.stringContaining('standby'),
      });
    }
    await pool.query(`DROP OWNED BY nobody_here_${process.pid}; DROP ROLE nobody_here_${process.pid}`);
  });
});

describe('migrate and schema', () => {
  test.each(['transaction', 'lease'] as const)(
    '%s: from eight sessions at once, then `schema` changes nothing',
    async (mode) => {
      const stores = Array.from({ length: 8 }, () =>
        postgresStore(here.pool({ max: 1 }), { mode, table: `made_${mode}` }),
      );
      await Promise.all(stores.map((store) => store.migrate()));
      await pool.query((stores[0] as { schema: string }).schema);
      const { rows } = await pool.query(`SELECT FROM pg_indexes WHERE tablename = 'made_${mode}'`);
      expect(rows).toHaveLength(2);
    },
  );

  test('forgetting takes a text, and tells of a table that is not there', async () => {
    const store = postgresStore(pool, { table: 'never_made' });
    await expect(store.forget(undefined as never)).rejects.toMatchObject({ code: 'config_error' });
    await expect(store.forget('x')).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('migrate()'),
    });
  });

  test('a schema and names that need quotes', async () => {
    await pool.query(`CREATE SCHEMA IF NOT EXISTS "${here.schema}_Überall"`);
    const store = postgresStore(pool, { table: `${here.schema}_Überall.select-Events` });
    await store.migrate();
    expect(await (await own(store.claim("o'brien", lifetimes))).done()).toBe(true);
    expect(await store.claim("o'brien", lifetimes)).toEqual({ state: 'done' });
    await pool.query(`SET client_min_messages = warning; DROP SCHEMA "${here.schema}_Überall" CASCADE`);
  });

  test.each([
    [{ table: 'a.b.c' }, 'table'],
    [{ table: 'x; DROP TABLE y' }, 'table'],
    [{ mode: 'leases' }, 'mode'],
    [{ maxConnections: 0 }, 'maxConnections'],
    [{ maxConnections: 11 }, 'maxConnections'],
    [{ timeoutSeconds: 0 }, 'timeoutSeconds'],
    [{ timeoutSeconds: '2' }, 'timeoutSeconds'],
    [{ tabel: 'x' }, 'tabel'],
  ])('the options %j are refused', (options, name) => {
    expect(() => postgresStore(pool, options as object)).toThrow(name);
  });

  test.each([
    ['nothing', undefined],
    ['an object', {}],
    ['an address', 'postgres://127.0.0.1/app'],
    ['a single client', new Client()],
    ['a client of Redis', { connect() {}, evalsha() {}, on() {} }],
  ])('%s is no pool', (_what, pool) => {
    expect(() => postgresStore(pool as unknown as Pool)).toThrow('new Pool');
  });
});
