import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Pool, PoolOptions } from 'mysql2/promise';
import { type MysqlStore, type MysqlStoreOptions, mysqlStore } from '../src/index.ts';
import { connect, freshTable, lateness, lifetimes, own, until } from './support.ts';

type Connection = Awaited<ReturnType<Pool['getConnection']>>;

const guideTable = `(
  event_id CHAR(36) NOT NULL PRIMARY KEY,
  received_at TIMESTAMP NOT NULL,
  KEY received_at (received_at)
)`;

describe('transaction mode', () => {
  let pool: Pool;
  let table: string;
  let effects: string;
  let store: MysqlStore<Connection>;
  const others: Pool[] = [];

  beforeEach(async () => {
    pool = connect();
    table = freshTable();
    effects = freshTable('effects');
    await pool.query(`CREATE TABLE ${effects} (id VARCHAR(255) COLLATE utf8mb4_bin NOT NULL)`);
    store = mysqlStore(pool, { table });
  });

  afterEach(async () => {
    await Promise.all([pool, ...others.splice(0)].map((one) => one.end()));
  });

  /** The same store over other connections, as another process has it. */
  function elsewhere(options: PoolOptions = {}, storeOptions: MysqlStoreOptions = {}): MysqlStore<Connection> {
    const other = connect(options);
    others.push(other);
    return mysqlStore(other, { table, ...storeOptions, mode: 'transaction' });
  }

  async function count(where = table): Promise<number> {
    const [rows] = await pool.query(`SELECT COUNT(*) AS count FROM ${where}`);
    return (rows as { count: number }[])[0]?.count ?? -1;
  }

  async function finish(id: string, by = store): Promise<void> {
    expect(await own(await by.claim(id, lifetimes)).done()).toBe(true);
  }

  describe("the guide's own table, as it stands", () => {
    beforeEach(() =>
      pool.query(`CREATE TABLE ${table} ${guideTable} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`),
    );

    test('works on it, with what is there already', async () => {
      const id = '0199c0de-7a3b-7c21-9a55-0d6f3f0e1a2b';
      await pool.query(`INSERT INTO ${table} VALUES ('0199c0de-0000-7000-8000-000000000000', NOW())`);
      expect(await store.claim('0199c0de-0000-7000-8000-000000000000', lifetimes)).toEqual({ state: 'done' });
      await finish(id);
      expect(await elsewhere().claim(id, lifetimes)).toEqual({ state: 'done' });
      await store.migrate();
      expect(await count()).toBe(2);
    });

    test.each([
      ['case', 'evt_a', 'EVT_A'],
      ['an accent', 'evt_a', 'evt_á'],
      ['an emoji that its collation takes for another', 'evt_🧾', 'evt_🧿'],
    ])(
      'ids that differ by %s alone are no repeat but an error that says how to mend the table',
      async (_, one, two) => {
        await finish(one);
        await expect(store.claim(two, lifetimes)).rejects.toMatchObject({
          code: 'store_unavailable',
          message: expect.stringContaining(`ALTER TABLE \`${table}\` MODIFY event_id VARCHAR(255)`),
        });
        expect(await store.claim(one, lifetimes)).toEqual({ state: 'done' });
        expect(await store.forget(two)).toBe(false);
        await pool.query(
          `ALTER TABLE ${table} MODIFY event_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL`,
        );
        await finish(two);
        expect(await count()).toBe(2);
      },
    );

    test.each([
      ['longer than the column', 'x'.repeat(37)],
      ['with blanks at the end', 'evt_a '],
    ])('an id %s is an error whatever sql_mode says', async (_, id) => {
      const lax = connect();
      others.push(lax);
      lax.on('connection', (connection) => connection.query("SET SESSION sql_mode = ''"));
      await expect(mysqlStore(lax, { table }).claim(id, lifetimes)).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('cannot hold this id'),
      });
      expect(await count()).toBe(0);
    });
  });

  test.each([
    ['latin1', 'CHAR(36) CHARACTER SET latin1 COLLATE latin1_swedish_ci'],
    ['ascii', 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin'],
    ['bytes', 'VARBINARY(1020)'],
    ['MariaDB’s UUID', 'UUID'],
  ])('a column of %s holds the ids that fit, and refuses the others', async (name, type) => {
    await pool.query(`CREATE TABLE ${table} (event_id ${type} NOT NULL PRIMARY KEY, received_at TIMESTAMP NOT NULL)`);
    const id = '0199c0de-7a3b-7c21-9a55-0d6f3f0e1a2b';
    await finish(id);
    expect(await elsewhere().claim(id, lifetimes)).toEqual({ state: 'done' });
    expect(await store.forget(id)).toBe(true);
    if (name === 'bytes') await finish('🧾');
    else await expect(store.claim('🧾', lifetimes)).rejects.toThrow('cannot hold this id');
  });

  test("neither the connection's character set nor the server's sql_mode changes an id", async () => {
    await store.migrate();
    const odd = elsewhere({ charset: 'latin1' });
    const quoting = connect();
    others.push(quoting);
    quoting.on('connection', (connection) =>
      connection.query("SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'"),
    );
    const ids = ['🧾', '🧿', 'é', "\\'; --", "\\' OR 1=1 #", '"', '\\', "'"];
    for (const id of ids) await finish(id, odd);
    for (const id of ids) expect(await mysqlStore(quoting, { table }).claim(id, lifetimes)).toEqual({ state: 'done' });
    expect(await count()).toBe(ids.length);
  });

  test("the pool's own settings for rows and values change nothing", async () => {
    await store.migrate();
    const odd = elsewhere({ rowsAsArray: true, dateStrings: true, supportBigNumbers: true, bigNumberStrings: true });
    const claim = own(await odd.claim('a', lifetimes));
    expect(Number.isSafeInteger(claim.fence)).toBe(true);
    await claim.done();
    expect(await odd.claim('a', lifetimes)).toEqual({ state: 'done' });
    expect((await odd.stats()).count).toBe(1);
    await until(async () => (await odd.prune({ olderThan: new Date('2100-01-01') })) === 1);
  });

  test('a table that another process has locked for an id is busy at once, and its connection is free', async () => {
    await store.migrate();
    const small = elsewhere({ connectionLimit: 1 });
    const held = own(await store.claim('a', lifetimes));
    for (let i = 0; i < 20; i += 1) {
      expect(await small.claim('a', lifetimes)).toEqual({ state: 'busy', retryAfterMs: lifetimes.leaseMs });
    }
    await held.done();
    expect(await small.claim('a', lifetimes)).toEqual({ state: 'done' });
  });

  test('a copy that is handled without this store is waited for no longer than the time limit', async () => {
    await store.migrate();
    const byHand = await pool.getConnection();
    await byHand.beginTransaction();
    await byHand.query(`INSERT INTO ${table} VALUES ('a', NOW())`);
    const late = await lateness(300, () =>
      expect(elsewhere().claim('a', { ...lifetimes, timeoutMs: 300 })).rejects.toMatchObject({
        code: 'store_unavailable',
      }),
    );
    expect(late).toBeLessThan(200);
    await byHand.commit();
    byHand.release();
    await until(async () => (await store.claim('a', lifetimes)).state === 'done');
  });

  test('what is left behind on a connection is nothing: no lock, no setting, no open transaction', async () => {
    await store.migrate();
    const one = connect({ connectionLimit: 1 });
    others.push(one);
    const single = mysqlStore(one, { table });
    const session = async (): Promise<unknown> => {
      const [rows] = await one.query('SELECT CONNECTION_ID(), @@SESSION.wait_timeout');
      return rows;
    };
    const before = await session();
    await finish('done', single);
    await single.claim('done', lifetimes);
    await own(await single.claim('released', lifetimes)).release();
    await single.forget('done');
    expect(await session()).toEqual(before);
    // Were one still held by the other connection, it would be busy here.
    await finish('done');
    await finish('released');
  });

  test('a handler’s wait_timeout ends what a vanished process has left open', async () => {
    await store.migrate();
    const claim = own(await store.claim('a', { ...lifetimes, limitMs: 60_000 }));
    const [rows] = await claim.tx.query('SELECT @@SESSION.wait_timeout AS seconds');
    expect(rows).toEqual([{ seconds: 65 }]);
    await claim.release();
  });

  describe('a handler that ends the transaction itself', () => {
    beforeEach(() => store.migrate());

    test('by a DDL, and then succeeds: the mark stands, and a warning says it', async () => {
      const warn = jest.spyOn(console, 'warn').mockReturnValue();
      const claim = own(await store.claim('a', lifetimes));
      await claim.tx.query(`CREATE TABLE ${freshTable('ddl')} (id INT)`);
      expect(await claim.done()).toBe(true);
      expect(warn.mock.calls).toEqual([[expect.anything(), { code: 'transaction_ended_by_handler' }]]);
      warn.mockRestore();
      expect(await elsewhere().claim('a', lifetimes)).toEqual({ state: 'done' });
    });

    test.each([
      ['a DDL', (tx: Connection) => tx.query(`CREATE TABLE ${freshTable('ddl')} (id INT)`)],
      ['COMMIT', (tx: Connection) => tx.commit()],
      ['a transaction of its own', (tx: Connection) => tx.beginTransaction()],
    ])('by %s, and then fails: the event is not lost', async (_, end) => {
      const claim = own(await store.claim('a', lifetimes));
      await end(claim.tx);
      await claim.release();
      await finish('a', elsewhere());
    });

    test('by ROLLBACK, and then succeeds: the mark is not there, and that is said', async () => {
      const claim = own(await store.claim('a', lifetimes));
      await claim.tx.query(`INSERT INTO ${effects} VALUES ('a')`);
      await claim.tx.rollback();
      await expect(claim.done()).rejects.toMatchObject({ code: 'commit_rolled_back' });
      await finish('a', elsewhere());
      expect(await count(effects)).toBe(0);
    });

    test('by swallowing a deadlock: the mark went with it, and that is said', async () => {
      await pool.query(`INSERT INTO ${effects} VALUES ('1'), ('2')`);
      await pool.query(`ALTER TABLE ${effects} ADD PRIMARY KEY (id)`);
      const claim = own(await store.claim('a', lifetimes));
      const rival = await pool.getConnection();
      await rival.beginTransaction();
      // The more the rival has written, the surer the handler is the one that is ended.
      for (let i = 10; i < 40; i += 1) await rival.query(`INSERT INTO ${effects} VALUES ('${i}')`);
      await rival.query(`UPDATE ${effects} SET id = 'x' WHERE id = '1'`);
      await claim.tx.query(`UPDATE ${effects} SET id = 'y' WHERE id = '2'`);
      const crossing = rival.query(`UPDATE ${effects} SET id = 'z' WHERE id = '2'`);
      await expect(claim.tx.query(`UPDATE ${effects} SET id = 'w' WHERE id = '1'`)).rejects.toMatchObject({
        errno: 1213,
      });
      await crossing;
      await rival.rollback();
      rival.release();
      await expect(claim.done()).rejects.toMatchObject({ code: 'commit_rolled_back' });
      await finish('a', elsewhere());
    });
  });

  test('`tx` is the handler’s for as long as its claim, and is not the handler’s to release', async () => {
    await store.migrate();
    const claim = own(await store.claim('a', lifetimes));
    claim.tx.release();
    // Still ours, and still in its transaction.
    expect(await elsewhere().claim('a', lifetimes)).toMatchObject({ state: 'busy' });
    await claim.tx.query('SELECT 1');
    expect(await claim.done()).toBe(true);
    expect(() => claim.tx.query('SELECT 1')).toThrow('transaction has ended');
  });

  test('what a handler waits for on an abandoned connection is rejected, not left hanging', async () => {
    await store.migrate();
    const claim = own(await store.claim('a', lifetimes));
    const slow = claim.tx.query('SELECT SLEEP(1)');
    await claim.abandon?.();
    await expect(slow).rejects.toThrow('The connection was destroyed.');
    // The server notices when the statement has ended.
    await until(async () => (await store.claim('a', lifetimes)).state === 'mine');
  });

  test('a pool of 10 with 30 copies of a slow handler that takes a second connection: other events are quick', async () => {
    await store.migrate();
    const handle = async (id: string): Promise<string> => {
      const claim = await store.claim(id, lifetimes);
      if (claim.state !== 'mine') return claim.state;
      const [rows] = await pool.query(`SELECT SLEEP(${id.startsWith('slow') ? 1 : 0})`);
      expect(rows).toHaveLength(1);
      await claim.done();
      return 'handled';
    };
    const slow = Promise.all(Array.from({ length: 30 }, (_, at) => handle(`slow-${at % 3}`)));
    for (let i = 0; i < 20; i += 1) {
      // Far less than the second that a place held by a slow one would cost.
      const late = await lateness(200, async () => expect(await handle(`quick-${i}`)).toBe('handled'));
      expect(late).toBeLessThan(500);
    }
    const states = await slow;
    expect(states.filter((state) => state === 'handled')).toHaveLength(3);
    expect(states.filter((state) => state === 'busy')).toHaveLength(27);
  });

  test('when handlers hold all the places, other events are refused in time, and a handler still finds a connection', async () => {
    await store.migrate();
    const full = elsewhere({ connectionLimit: 4 }, { maxConnections: 3, timeoutSeconds: 0.4 });
    const held = await Promise.all(['a', 'b', 'c'].map(async (id) => own(await full.claim(id, lifetimes))));
    const late = await lateness(400, () =>
      expect(full.claim('d', lifetimes)).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('all 3 connections'),
      }),
    );
    expect(late).toBeLessThan(200);
    await (others[0] as Pool).query('SELECT 1');
    await Promise.all(held.map((claim) => claim.done()));
    await finish('d', full);
  });

  test('a table that is not there is an error that says how to make it', async () => {
    await expect(store.claim('a', lifetimes)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('Run `await store.migrate()`'),
    });
    await pool.query(store.schema);
    await finish('a');
  });
});
