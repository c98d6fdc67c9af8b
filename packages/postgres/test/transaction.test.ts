import { type PostgresStore, postgresStore } from '@factuarea-webhook/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Pool, PoolClient } from 'pg';
import {
  countEffects,
  effect,
  effectsTable,
  lateness,
  lifetimes,
  own,
  type Place,
  place,
  receiving,
  until,
} from './support.ts';

let here: Place;
let pool: Pool;
let store: PostgresStore<PoolClient>;
let ids = 0;
let id: string;

beforeAll(async () => {
  here = await place();
  pool = here.pool();
  store = postgresStore(pool);
  await store.migrate();
  await pool.query(effectsTable);
});
beforeEach(() => {
  id = `evt_${ids++}`;
});
afterAll(() => here.close());

async function isMarked(): Promise<boolean> {
  const { rows } = await pool.query('SELECT FROM processed_webhook_events WHERE event_id = $1', [id]);
  return rows.length === 1;
}

describe('a handler inside of the transaction', () => {
  test('its writes and the mark commit together', async () => {
    const post = receiving({ store, handler: (event, { tx }) => effect(tx, event.id) });
    expect(await post(id)).toMatchObject({ status: 200, code: 'handled' });
    expect(await post(id)).toMatchObject({ status: 200, code: 'repeat' });
    expect([await isMarked(), await countEffects(pool, id)]).toEqual([true, 1]);
  });

  test('a failure undoes both', async () => {
    const post = receiving({
      store,
      async handler(event, { tx }) {
        await effect(tx, event.id);
        throw new Error('No.');
      },
    });
    expect(await post(id)).toMatchObject({ status: 500, code: 'handler_failed' });
    expect([await isMarked(), await countEffects(pool, id)]).toEqual([false, 0]);
  });

  test('a swallowed SQL error is no success: COMMIT answers ROLLBACK', async () => {
    let fails = true;
    const post = receiving({
      store,
      async handler(event, { tx }) {
        await effect(tx, event.id);
        if (fails) await tx.query('SELECT 1 / 0').catch(() => {});
      },
    });
    const answer = await post(id);
    expect(answer).toMatchObject({ status: 500, code: 'commit_failed', error: { code: 'commit_rolled_back' } });
    expect([await isMarked(), await countEffects(pool, id)]).toEqual([false, 0]);
    fails = false;
    expect(await post(id)).toMatchObject({ code: 'handled' });
    expect(await countEffects(pool, id)).toBe(1);
  });

  test('an error that a savepoint has caught is none', async () => {
    const post = receiving({
      store,
      async handler(event, { tx }) {
        await tx.query('SAVEPOINT before');
        await tx.query('SELECT 1 / 0').catch(() => tx.query('ROLLBACK TO before'));
        await effect(tx, event.id);
      },
    });
    expect(await post(id)).toMatchObject({ code: 'handled' });
    expect(await countEffects(pool, id)).toBe(1);
  });

  test('a deferred constraint that refuses the commit', async () => {
    await pool.query(`CREATE TABLE IF NOT EXISTS parents (id text PRIMARY KEY);
      CREATE TABLE IF NOT EXISTS children (parent text REFERENCES parents DEFERRABLE INITIALLY DEFERRED)`);
    const post = receiving({ store, handler: (_, { tx }) => tx.query("INSERT INTO children VALUES ('none')") });
    expect(await post(id)).toMatchObject({ status: 500, error: { code: 'commit_rolled_back' } });
    expect(await isMarked()).toBe(false);
  });

  test('a handler that commits by itself and fails leaves no mark, and is warned of once', async () => {
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    let fails = true;
    const post = receiving({
      store,
      async handler(_, { tx }) {
        await tx.query('COMMIT');
        if (fails) throw new Error('After its own commit.');
      },
    });
    expect(await post(id)).toMatchObject({ status: 500, code: 'handler_failed' });
    expect(await isMarked()).toBe(false);
    fails = false;
    expect(await post(id)).toMatchObject({ status: 200, code: 'handled' });
    expect(await isMarked()).toBe(true);
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining('context.tx'), { code: 'transaction_ended_by_handler' }],
    ]);
    warn.mockRestore();
  });

  test('a handler that rolls back by itself has not succeeded, and undoes nobody else’s mark', async () => {
    const post = receiving({ store, handler: (_, { tx }) => tx.query('ROLLBACK') });
    expect(await post(id)).toMatchObject({ status: 500, error: { code: 'commit_rolled_back' } });
    expect(await isMarked()).toBe(false);

    const claim = await own(store.claim(id, lifetimes));
    await claim.tx.query('ROLLBACK');
    const other = await own(postgresStore(pool).claim(id, lifetimes));
    await other.done();
    await claim.release();
    expect(await isMarked()).toBe(true);
  });

  test('`tx` is of no use once the transaction has ended, and a release in it changes nothing', async () => {
    let late: Promise<unknown> = Promise.resolve();
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const post = receiving({
      store,
      async handler(event, { tx }) {
        late = gate.then(() => effect(tx, event.id));
        tx.release();
        await effect(tx, `${event.id}_released`);
      },
    });
    expect(await post(id)).toMatchObject({ code: 'handled' });
    go();
    await expect(late).rejects.toMatchObject({ code: 'lease_lost', message: expect.stringContaining('did not wait') });
    expect([await countEffects(pool, `${id}_released`), await countEffects(pool, id)]).toEqual([1, 0]);
  });

  test('a handler that never ends is answered in time, and at its limit nothing of it commits', async () => {
    let late: unknown;
    const post = receiving({
      store,
      timeoutSeconds: 1,
      handlerLimitSeconds: 1,
      async handler(event, { tx, signal }) {
        await effect(tx, event.id);
        await new Promise((resolve) => (signal as AbortSignal).addEventListener('abort', resolve));
        late = await effect(tx, `${event.id}_late`).catch((error: unknown) => error);
        await tx.query('COMMIT').catch(() => {});
        await new Promise(() => {});
      },
    });
    const answer = await post(id);
    expect(answer).toMatchObject({ status: 503, code: 'deadline_exceeded' });
    expect(answer.ms).toBeLessThan(1000);
    expect((await store.claim(id, lifetimes)).state).toBe('busy');
    const again = await until(async () => {
      const claim = await store.claim(id, lifetimes);
      return claim.state === 'mine' && claim;
    });
    await again.release();
    expect(late).toMatchObject({ code: 'lease_lost' });
    expect([await isMarked(), await countEffects(pool, id), await countEffects(pool, `${id}_late`)]).toEqual([
      false,
      0,
      0,
    ]);
  });

  test('abandoned in the middle of a statement, nothing of it commits', async () => {
    const claim = await own(store.claim(id, lifetimes));
    const writing = claim.tx.query("INSERT INTO effects SELECT 'slow' FROM pg_sleep(0.3)").catch(() => {});
    await claim.abandon?.();
    await writing;
    const next = await until(async () => {
      const again = await store.claim(id, lifetimes);
      return again.state === 'mine' && again;
    });
    expect(next.fence).toBeGreaterThan(claim.fence);
    await next.release();
    expect(await countEffects(pool, 'slow')).toBe(0);
  });
});

describe('the session’s settings', () => {
  const setting = async (tx: PoolClient, name: string): Promise<string> =>
    (await tx.query('SELECT current_setting($1) AS value', [name])).rows[0].value;

  test.each([
    ['0', '2min'],
    ['5s', '5s'],
    ['10min', '2min'],
  ])('a statement_timeout of %s is %s inside', async (session, inside) => {
    const one = here.pool({ max: 1, options: `-c search_path=${here.schema} -c statement_timeout=${session}` });
    const claim = await own(postgresStore(one).claim(id, lifetimes));
    expect(await setting(claim.tx, 'statement_timeout')).toBe(inside);
    expect(await setting(claim.tx, 'idle_in_transaction_session_timeout')).toBe('125s');
    await claim.done();
    const { rows } = await one.query(`SELECT current_setting('statement_timeout') AS inside,
      current_setting('idle_in_transaction_session_timeout') AS idle, (SELECT count(*) FROM pg_locks
      WHERE locktype = 'advisory' AND pid = pg_backend_pid())::int AS locks, (SELECT count(*) FROM pg_prepared_statements)::int AS named`);
    expect(rows).toEqual([{ inside: session, idle: '0', locks: 0, named: 0 }]);
  });

  test.each(['repeatable read', 'serializable'])('every isolation default: %s', async (level) => {
    const config = {
      options: `-c search_path=${here.schema} -c default_transaction_isolation=${level.replace(' ', '\\ ')}`,
    };
    for (const mode of ['transaction', 'lease'] as const) {
      const stores = [0, 1, 2].map(() => postgresStore(here.pool(config), { mode }));
      await stores[0]?.migrate();
      const runs = new Map<string, number>();
      const copies = Array.from({ length: 90 }, (_, at) => [`${id}_${mode} ${at % 6}`, stores[at % 3]] as const);
      await Promise.all(
        copies.map(([key, from]) =>
          until(async () => {
            const claim = await from?.claim(key, lifetimes);
            if (claim?.state !== 'mine') return claim?.state === 'done';
            try {
              await claim.done();
            } catch (error) {
              // A retry can succeed, so the receiver answers 503.
              expect(error).toMatchObject({ code: 'commit_failed' });
              return false;
            }
            runs.set(key, (runs.get(key) ?? 0) + 1);
            return true;
          }),
        ),
      );
      expect([...runs.values()]).toEqual(Array(6).fill(1));
    }
  });

  test('a serialization failure at COMMIT is told from a refusal, and the retry succeeds', async () => {
    const strict = here.pool({
      options: `-c search_path=${here.schema} -c default_transaction_isolation=serializable`,
    });
    const strictStore = postgresStore(strict);
    await pool.query('CREATE TABLE totals (name text, amount int); INSERT INTO totals VALUES ($$a$$, 1), ($$b$$, 1)');
    const skew = async (claim: { tx: PoolClient }, name: string): Promise<void> => {
      await claim.tx.query('SELECT sum(amount) FROM totals');
      await claim.tx.query('UPDATE totals SET amount = amount + 1 WHERE name = $1', [name]);
    };
    const [first, second] = [
      await own(strictStore.claim(`${id}_a`, lifetimes)),
      await own(strictStore.claim(`${id}_b`, lifetimes)),
    ];
    await skew(first, 'a');
    await skew(second, 'b');
    expect(await first.done()).toBe(true);
    await expect(second.done()).rejects.toMatchObject({ code: 'commit_failed', cause: { code: '40001' } });
    const again = await own(strictStore.claim(`${id}_b`, lifetimes));
    await skew(again, 'b');
    expect(await again.done()).toBe(true);
  });
});

describe('beside the hand-written recipe, as in a deployment of one after the other', () => {
  test('a copy that the recipe is handling is unavailable within the time limit, and a repeat once it has committed', async () => {
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('INSERT INTO processed_webhook_events VALUES ($1, now()) ON CONFLICT DO NOTHING', [id]);
    const startedAt = performance.now();
    await expect(store.claim(id, { ...lifetimes, timeoutMs: 500 })).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('without this store'),
    });
    expect(performance.now() - startedAt).toBeLessThan(1500);
    await client.query('COMMIT');
    client.release();
    expect(await store.claim(id, lifetimes)).toEqual({ state: 'done' });
  });

  test('the recipe waits for our handler, and finds the row', async () => {
    const claim = await own(store.claim(id, lifetimes));
    const recipe = pool.query('INSERT INTO processed_webhook_events VALUES ($1, now()) ON CONFLICT DO NOTHING', [id]);
    await claim.done();
    expect((await recipe).rowCount).toBe(0);
  });
});

describe('connections', () => {
  test.each([2, 10])('a pool of 2, %i deliveries at once, a handler that takes a second connection', async (copies) => {
    const small = here.pool({ max: 2 });
    const post = receiving({
      store: postgresStore(small),
      async handler(event, { tx }) {
        await small.query('SELECT pg_sleep(0.01)');
        await effect(tx, event.id);
      },
    });
    const waiting = Array.from({ length: copies }, (_, at) => `${id}_${at}`);
    await Promise.all(
      waiting.map((one) =>
        until(async () => {
          const { status } = await post(one);
          expect([200, 503]).toContain(status);
          return status === 200;
        }),
      ),
    );
    for (const one of waiting) expect(await countEffects(pool, one)).toBe(1);
    expect([small.totalCount, small.idleCount, small.waitingCount]).toEqual([2, 2, 0]);
  });

  test('a pool of 10, 30 copies, a slow handler that takes a second connection: other events stay under 200 ms', async () => {
    const ten = here.pool({ max: 10 });
    const tenStore = postgresStore(ten);
    let finish = (): void => {};
    const gate = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let runs = 0;
    const slow = receiving({
      store: tenStore,
      async handler(event, { tx }) {
        runs++;
        const second = await ten.connect();
        await gate;
        second.release();
        await effect(tx, event.id);
      },
    });
    const quick = receiving({ store: tenStore, handler: (event, { tx }) => effect(tx, event.id) });
    // Warm, so that no connection is made, and no code run for the first time, while the clock runs: that alone takes up
    // to 190 ms for the thirty where the machine is busy.
    await Promise.all(Array.from({ length: 10 }, () => ten.query('SELECT pg_sleep(0.05)')));
    await Promise.all(Array.from({ length: 30 }, (_, at) => quick(`${id}_warm_${at}`)));
    const copies = Array.from({ length: 30 }, () => slow(id));
    for (let other = 0; other < 20; other++) {
      const late = await lateness(200, async () => {
        expect(await quick(`${id}_other_${other}`)).toMatchObject({ status: 200, code: 'handled' });
      });
      // One that waited for the pool would be two seconds late.
      expect(late).toBeLessThan(50);
    }
    finish();
    const answers = await Promise.all(copies);
    expect(answers.filter(({ code }) => code === 'handled')).toHaveLength(1);
    expect(answers.filter(({ status, code }) => status === 503 && code === 'in_progress')).toHaveLength(29);
    expect([runs, await countEffects(pool, id)]).toEqual([1, 1]);
  });

  test('above the places of handlers the answer is 503 at once, and some of the pool stays free', async () => {
    const ten = here.pool({ max: 10 });
    const tenStore = postgresStore(ten);
    // Another store on the pool shares the places.
    const other = postgresStore(ten, { table: 'processed_webhook_events' });
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, at) => own(tenStore.claim(`${id}_${at}`, lifetimes))),
    );
    const startedAt = performance.now();
    await expect(other.claim(id, lifetimes)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('all 8 connections'),
    });
    expect(performance.now() - startedAt).toBeLessThan(1500);
    await ten.query('SELECT 1');
    await claims[0]?.release();
    await (await own(other.claim(id, lifetimes))).release();
    await Promise.all(claims.map((claim) => claim.release()));
  });

  test('a burst of short handlers passes through a small pool without a refusal', async () => {
    const post = receiving({
      store: postgresStore(here.pool({ max: 3 })),
      handler: (event, { tx }) => effect(tx, event.id),
    });
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => post(`${id}_${at}`)));
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  });

  test('repeats that come together cost one question, and none of them is busy', async () => {
    await (await own(store.claim(id, lifetimes))).done();
    const claims = await Promise.all(Array.from({ length: 50 }, () => store.claim(id, lifetimes)));
    expect(claims).toEqual(Array(50).fill({ state: 'done' }));
  });

  test('a pool that others have emptied: refused within the time limit, and nothing is left waiting', async () => {
    const full = here.pool({ max: 2, connectionTimeoutMillis: 0 });
    const held = [await full.connect(), await full.connect()];
    for (const mode of ['transaction', 'lease'] as const) {
      const startedAt = performance.now();
      await expect(postgresStore(full, { mode, timeoutSeconds: 0.2 }).claim(id, lifetimes)).rejects.toMatchObject({
        code: 'store_unavailable',
      });
      expect(performance.now() - startedAt).toBeLessThan(1500);
    }
    for (const client of held) client.release();
    await until(async () => full.waitingCount === 0 && full.idleCount === 2);
    await (await own(postgresStore(full).claim(id, lifetimes))).release();
  });
});

test('scheduled prunings stop with `close`, and the pool stays open', async () => {
  const name = 'scheduled';
  const scheduled = postgresStore(pool, { table: name });
  await scheduled.migrate();
  await pool.query(
    `INSERT INTO ${name} SELECT 'old ' || n, now() - interval '91 days' FROM generate_series(1, 2500) n`,
  );
  await pool.query(`INSERT INTO ${name} VALUES ('young', now() - interval '89 days')`);
  scheduled.schedulePrune({ every: 1, batchSize: 1000 });
  await until(async () => (await scheduled.stats()).count === 1);
  await scheduled.close();
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});
