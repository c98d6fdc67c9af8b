import { existsSync } from 'node:fs';
import { messageOf, unable, usageError } from '../exit.ts';
import { load, loadFirst } from './load.ts';

/** How many ids are done, and since when. */
export interface Stats {
  readonly count: number;
  readonly oldest: Date | undefined;
  readonly newest: Date | undefined;
  readonly byDay: Readonly<Record<string, number>>;
}

/** What the commands need of a store. Redis has neither of the first two: its keys end by themselves. */
export interface Upkeep {
  migrate?(): Promise<void>;
  prune?(options: { olderThan: Date }): Promise<number>;
  stats(): Promise<Stats>;
  close(): Promise<void>;
}

/** An open store. */
export interface OpenStore {
  /** The URL without its password. */
  readonly name: string;
  readonly store: Upkeep;
  close(): Promise<void>;
}

export interface StoreOptions {
  readonly table?: string | undefined;
  readonly prefix?: string | undefined;
  readonly mode?: 'lease' | 'transaction' | undefined;
}

type Make = (client: unknown, options: object) => Upkeep;

/** Opens the store at a URL, with the driver and the store package of the project that the command is run in. */
export async function openStore(url: string, options: StoreOptions, mayCreate = false): Promise<OpenStore> {
  const scheme = /^([a-z]+):/i.exec(url)?.[1]?.toLowerCase() ?? '';
  const opener = Object.hasOwn(openers, scheme) ? openers[scheme as keyof typeof openers] : undefined;
  if (!opener) {
    throw usageError(
      `"${withoutPassword(url)}" is no store URL. Give sqlite:<path>, postgres://…, mysql://… or redis://….`,
    );
  }
  if (scheme.startsWith('redis') && options.table !== undefined) throw usageError('Redis has no table. Give --prefix.');
  if (!scheme.startsWith('redis') && options.prefix !== undefined)
    throw usageError('--prefix is for Redis. Give --table.');
  const set = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  try {
    const { store, end } = await opener(url, set, mayCreate);
    return {
      name: withoutPassword(url),
      store,
      async close() {
        await store.close();
        await end();
      },
    };
  } catch (error) {
    throw reworded(error, url);
  }
}

/** An error of a store or a driver, without the password that its message may hold. */
export function reworded(error: unknown, url: string): unknown {
  if (error instanceof Error && error.name === 'CliError') return error;
  const cause = error instanceof Error && error.cause !== undefined ? `: ${messageOf(error.cause)}` : '';
  const text = `${messageOf(error)}${cause}`.replaceAll(url, withoutPassword(url));
  return unable(`${withoutPassword(url)}: ${text}`, error);
}

type Opened = Promise<{ store: Upkeep; end: () => unknown }>;

const openers = {
  sqlite: openSqlite,
  file: openSqlite,
  postgres: openPostgres,
  postgresql: openPostgres,
  mysql: openMysql,
  mariadb: openMysql,
  redis: openRedis,
  rediss: openRedis,
};

async function openSqlite(url: string, options: object, mayCreate: boolean): Opened {
  const path = url.replace(/^[a-z]+:(\/\/(?=\/))?/i, '');
  if (path === '') throw usageError('The URL has no path. Give sqlite:./app.db.');
  if (!mayCreate && !existsSync(path)) throw unable(`There is no file ${path}.`);
  const { sqliteStore } = await load<{ sqliteStore: Make }>('@factuarea-webhook/sqlite', '@factuarea-webhook/sqlite');
  const open = await sqliteDriver();
  return { store: sqliteStore(() => open(path), options), end() {} };
}

async function sqliteDriver(): Promise<(path: string) => unknown> {
  const major = Number(process.versions.node.split('.')[0]);
  if (major >= 24) {
    const { DatabaseSync } = (await import('node:sqlite' as string)) as {
      DatabaseSync: new (path: string) => unknown;
    };
    return (path) => new DatabaseSync(path);
  }
  const { default: Driver } = await loadFirst<{ default: new (path: string) => unknown }>(
    ['better-sqlite3', 'libsql'],
    'better-sqlite3',
  );
  return (path) => new Driver(path);
}

async function openPostgres(url: string, options: object): Opened {
  const { postgresStore } = await load<{ postgresStore: Make }>(
    '@factuarea-webhook/postgres',
    '@factuarea-webhook/postgres pg',
  );
  const { Pool } = await load<{ Pool: new (options: object) => { end(): Promise<void> } }>('pg', 'pg');
  const pool = new Pool({ connectionString: url, max: 2, connectionTimeoutMillis: 5000 });
  return { store: postgresStore(pool, options), end: () => pool.end() };
}

async function openMysql(url: string, options: object): Opened {
  const { mysqlStore } = await load<{ mysqlStore: Make }>(
    '@factuarea-webhook/mysql',
    '@factuarea-webhook/mysql mysql2',
  );
  const { createPool } = await load<{ createPool: (options: object) => { end(): Promise<void> } }>(
    'mysql2/promise',
    'mysql2',
  );
  const pool = createPool({ uri: url.replace(/^mariadb:/i, 'mysql:'), connectionLimit: 2, connectTimeout: 5000 });
  return { store: mysqlStore(pool, options), end: () => pool.end() };
}

interface RedisClient {
  connect(): Promise<void>;
  disconnect(): void;
  on(event: 'error', listener: () => void): void;
}

async function openRedis(url: string, options: object): Opened {
  const { redisStore } = await load<{ redisStore: Make }>(
    '@factuarea-webhook/redis',
    '@factuarea-webhook/redis ioredis',
  );
  const { Redis } = await load<{ Redis: new (url: string, options: object) => RedisClient }>('ioredis', 'ioredis');
  const client = new Redis(url, { lazyConnect: true, connectTimeout: 5000, retryStrategy: () => null });
  // What goes wrong rejects the call that it goes wrong for.
  client.on('error', () => {});
  await client.connect();
  return { store: redisStore(client, options), end: () => client.disconnect() };
}

function withoutPassword(url: string): string {
  return url.replace(/^([a-z]+:\/\/[^/:@]*):[^@/]*@/i, '$1:***@');
}
