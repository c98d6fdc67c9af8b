/**
 * For each kind of store: ours, and the shortest thing that tells a new id from a repeat, `insert(id)`. That one marks the
 * id before the work is done, so a handler that fails loses its event: it is a floor, not a choice.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mysqlStore } from '@factuarea-webhook/mysql';
import { redisStore } from '@factuarea-webhook/redis';
import { sqliteStore } from '@factuarea-webhook/sqlite';
import { Redis } from 'ioredis';
import Sqlite from 'libsql';
import { createPool } from 'mysql2/promise';
import { start as startMariadb } from '../../scripts/servers/mariadb.mjs';
import { start as startRedis } from '../../scripts/servers/redis.mjs';

const claimOptions = { leaseMs: 20_000, retentionMs: 90 * 86_400_000, timeoutMs: 10_000 };

/** Takes an id as the receiver does, with a handler that takes no time. True when it was new. */
export async function take(store, id) {
  const claim = await store.claim(id, claimOptions);
  if (claim.state === 'busy') throw new Error('Nobody else claims these ids.');
  if (claim.state === 'mine' && !(await claim.done())) throw new Error('The claim was lost.');
  return claim.state === 'mine';
}

/** Takes one id after the other. Gives the milliseconds of each. */
export async function timed(store, nextId, goesOn, isNew = true) {
  const times = [];
  while (goesOn(times.length)) {
    const id = nextId();
    const startedAt = performance.now();
    const wasNew = await take(store, id);
    times.push(performance.now() - startedAt);
    if (wasNew !== isNew) throw new Error(`The id ${id} was ${wasNew ? 'not kept' : 'kept already'}.`);
    // SQLite is synchronous, and would let no message in.
    if (times.length % 16 === 0) await new Promise(setImmediate);
  }
  return times;
}

export const kinds = {
  redis: {
    start: startRedis,
    rival: 'set',
    async open(url) {
      const client = new Redis(url);
      return {
        store: redisStore(client),
        insert: async (id) => (await client.set(`rival:${id}`, '1', 'EX', 7_776_000, 'NX')) === 'OK',
        close: async () => client.disconnect(),
      };
    },
  },
  mysql: { start: startMariadb, rival: 'insert', open: (url) => openMysql(url, 'transaction') },
  'mysql-lease': { start: startMariadb, rival: 'insert', open: (url) => openMysql(url, 'lease') },
  sqlite: {
    start: temporaryFile,
    rival: 'insert',
    async open(file) {
      const own = new Sqlite(file);
      const rival = new Sqlite(`${file}-rival`);
      rival.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
      rival.exec('CREATE TABLE ids (event_id TEXT PRIMARY KEY, received_at INTEGER NOT NULL) WITHOUT ROWID');
      const insert = rival.prepare('INSERT INTO ids VALUES (?, unixepoch()) ON CONFLICT DO NOTHING');
      return {
        store: sqliteStore(own),
        insert: async (id) => insert.run(id).changes === 1,
        async close() {
          own.close();
          rival.close();
        },
      };
    },
  },
};

async function openMysql(url, mode) {
  const pool = createPool({ uri: url, connectionLimit: 4 });
  const store = mysqlStore(pool, { mode });
  await store.migrate();
  const columns = 'event_id CHAR(36) NOT NULL PRIMARY KEY, received_at TIMESTAMP NOT NULL, INDEX (received_at)';
  await pool.query(`CREATE TABLE IF NOT EXISTS rival_events (${columns})`);
  return {
    store,
    async insert(id) {
      try {
        await pool.query('INSERT INTO rival_events (event_id, received_at) VALUES (?, NOW())', [id]);
        return true;
      } catch (error) {
        if (error.errno === 1062) return false;
        throw error;
      }
    },
    close: () => pool.end(),
  };
}

/** A folder with a name for a file in it. SQLite is no server, but it is started and stopped like one. */
export async function temporaryFile() {
  const folder = mkdtempSync(join(tmpdir(), 'factuarea-webhook-bench-'));
  return {
    url: join(folder, 'ids.db'),
    async stop() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
