/** Stores that keep as many ids as they are told to, each with an empty one of its kind beside it. */
import { statSync } from 'node:fs';
import { postgresStore } from '@factuarea-webhook/postgres';
import { redisStore } from '@factuarea-webhook/redis';
import { sqliteStore } from '@factuarea-webhook/sqlite';
import { Redis } from 'ioredis';
import Sqlite from 'libsql';
import pg from 'pg';
import { start as startPostgres } from '../../scripts/servers/postgres.mjs';
import { start as startRedis } from '../../scripts/servers/redis.mjs';
import { temporaryFile } from './shortest.mjs';

/** The moment of the first id, in Unix milliseconds: a year ago. Ten follow in each second. */
const FIRST = Date.now() - 365 * 86_400_000;
const STEP_MS = 100;

// Small enough that JavaScript and SQL come to the same id for every place: a product stays far below 2 ** 53.
const SPREAD = 40_503;

/** The id that stands at a place, as a version 7 UUID: 48 bits of time, then what differs. */
function idAt(place) {
  const time = hex(FIRST + place * STEP_MS, 12);
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${hex(place * SPREAD, 12)}`;
}

const hex = (value, digits) => value.toString(16).padStart(digits, '0');

/** The same in SQL of Postgres, where `i` is the place. */
const SQL_ID = `substr(t, 1, 8) || '-' || substr(t, 9) || '-7000-8000-' ||
  lpad(to_hex(i * ${SPREAD}), 12, '0')`;
const sqlIds = (from, to) => `FROM generate_series(${from}::bigint, ${to - 1}::bigint) AS i,
  LATERAL (SELECT lpad(to_hex(${FIRST} + i * ${STEP_MS}), 12, '0') AS t) AS times`;

/** Before this moment as many ids were done as are to be pruned. */
const cutoff = (count) => new Date(FIRST + count * STEP_MS);

export const kinds = {
  async postgres() {
    const server = await startPostgres();
    const pool = new pg.Pool({ connectionString: server.url, max: 4 });
    const [empty, full] = ['ids_empty', 'ids_full'].map((table) => postgresStore(pool, { table }));
    await empty.migrate();
    await full.migrate();
    return {
      empty,
      full,
      idAt,
      cutoff,
      async fill(from, to) {
        await pool.query(`INSERT INTO ids_full (event_id, received_at)
          SELECT ${SQL_ID}, to_timestamp((${FIRST} + i * ${STEP_MS}) / 1000.0) ${sqlIds(from, to)}`);
        await pool.query('VACUUM ANALYZE ids_full');
        await pool.query('CHECKPOINT');
      },
      bytes: (kept) => bytesOf(pool, 'ids_full', kept),
      async close() {
        await pool.end();
        await server.stop();
      },
    };
  },

  async redis() {
    const servers = [await startRedis({ own: true }), await startRedis({ own: true })];
    const clients = servers.map(({ url }) => new Redis(url));
    const [empty, full] = clients.map((client) => redisStore(client));
    const client = clients[1];
    const memory = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))[1]);
    const before = await memory();
    return {
      empty,
      full,
      idAt,
      async fill(from, to) {
        for (let at = from; at < to; at += 5000) {
          const pipeline = client.pipeline();
          for (let place = at; place < Math.min(at + 5000, to); place++) {
            const time = FIRST + place * STEP_MS;
            pipeline.set(
              `factuarea-webhook:${idAt(place)}`,
              `done ${time} ${idAt(place)} ${time}`,
              'PX',
              7_776_000_000,
            );
          }
          await pipeline.exec();
        }
      },
      bytes: async (kept) => ((await memory()) - before) / kept,
      async close() {
        for (const one of clients) one.disconnect();
        for (const server of servers) await server.stop();
      },
    };
  },

  async sqlite() {
    const [file, other] = [await temporaryFile(), await temporaryFile()];
    const databases = [new Sqlite(other.url), new Sqlite(file.url)];
    const [empty, full] = databases.map((database) => sqliteStore(database));
    await empty.migrate();
    await full.migrate();
    const database = databases[1];
    return {
      empty,
      full,
      idAt,
      cutoff,
      async fill(from, to) {
        const insert = database.prepare(`INSERT INTO factuarea_webhook_events (event_id, token, leased_until, done_at)
          VALUES (?, ?, ?, ?)`);
        fillSqlite(database, from, to, (id, time) => insert.run(id, id, time, time));
      },
      bytes: async (kept) => sqliteBytes(database, file.url, kept),
      async close() {
        for (const one of databases) one.close();
        for (const one of [file, other]) await one.stop();
      },
    };
  },
};

/** Bytes an id of the guide's table with so many ids, in Postgres and in SQLite. */
export async function guideBytes(count) {
  const server = await startPostgres();
  const pool = new pg.Pool({ connectionString: server.url, max: 1 });
  await pool.query(`
    CREATE TABLE guide (event_id CHAR(36) NOT NULL PRIMARY KEY, received_at TIMESTAMP NOT NULL);
    CREATE INDEX ON guide (received_at);
    INSERT INTO guide SELECT ${SQL_ID}, to_timestamp((${FIRST} + i * ${STEP_MS}) / 1000.0) ${sqlIds(0, count)}`);
  const postgres = await bytesOf(pool, 'guide', count);
  await pool.end();
  await server.stop();

  const file = await temporaryFile();
  const database = new Sqlite(file.url);
  database.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE guide (event_id CHAR(36) NOT NULL PRIMARY KEY, received_at TIMESTAMP NOT NULL);
    CREATE INDEX guide_age ON guide (received_at)`);
  const insert = database.prepare('INSERT INTO guide VALUES (?, ?)');
  fillSqlite(database, 0, count, (id, time) => insert.run(id, new Date(time).toISOString().slice(0, 19)));
  const sqlite = sqliteBytes(database, file.url, count);
  database.close();
  await file.stop();
  return { postgres, sqlite };
}

async function bytesOf(pool, table, count) {
  const { rows } = await pool.query('SELECT pg_total_relation_size($1)::float AS bytes', [table]);
  return rows[0].bytes / count;
}

function fillSqlite(database, from, to, insert) {
  for (let at = from; at < to; at += 100_000) {
    database.exec('BEGIN');
    for (let place = at; place < Math.min(at + 100_000, to); place++) insert(idAt(place), FIRST + place * STEP_MS);
    database.exec('COMMIT');
  }
}

function sqliteBytes(database, file, count) {
  database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
  return statSync(file).size / count;
}
