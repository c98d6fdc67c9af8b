import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { redisStore } from '@factuarea-webhook/redis';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { run } from './run.ts';

jest.setTimeout(60_000);

interface Kept {
  readonly count: number;
}

const packages = join(__dirname, '..', '..');
const cli = join(String(process.env['FACTUAREA_WEBHOOK_CLI']), 'node_modules', '@factuarea-webhook');
const folder = mkdtempSync(join(tmpdir(), 'project-'));
const table = `ids_${process.pid}`;
afterAll(() => rmSync(folder, { recursive: true }));

/** A project of somebody who uses every store: what `npm install` would have put there. */
beforeAll(() => {
  writeFileSync(join(folder, 'package.json'), '{"name":"app","private":true}');
  const link = (name: string, to: string): void => {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
    symlinkSync(to, join(folder, 'node_modules', name));
  };
  for (const name of ['sqlite', 'postgres', 'mysql', 'redis']) link(`@factuarea-webhook/${name}`, join(cli, name));
  const drivers = { sqlite: 'libsql', postgres: 'pg', mysql: 'mysql2', redis: 'ioredis' };
  for (const [name, driver] of Object.entries(drivers)) {
    link(driver, realpathSync(join(packages, name, 'node_modules', driver)));
  }
});

const inProject = (...args: string[]): ReturnType<typeof run> => run(args, { cwd: folder });

const sql: [string, string, string[]][] = [
  ['sqlite', 'sqlite:./app.sqlite', []],
  ['postgres', String(process.env['CLI_POSTGRES_URL']), ['--table', table]],
  ['mysql', String(process.env['CLI_MYSQL_URL']), ['--table', table]],
];

describe.each(sql)('%s', (name, url, options) => {
  test('migrate, status, prune', async () => {
    const migrated = await inProject('migrate', url, ...options, '--json');
    expect(migrated.stderr).toBe('');
    expect(migrated.json()).toEqual({ store: expect.any(String), ready: true });
    expect((await inProject('migrate', url, ...options)).stdout).toContain('is ready');
    const status = await inProject('status', url, ...options, '--json');
    expect(status.json()).toEqual({ store: expect.any(String), count: 0, byDay: {} });
    const pruned = await inProject('prune', url, ...options, '--older-than', '30', '--json');
    expect(pruned.json()).toMatchObject({ deleted: 0 });
    expect((await inProject('prune', url, ...options)).stdout).toMatch(
      /^0 ids done before \d{4}-\d\d-\d\d deleted from /,
    );
    expect([migrated.code, status.code, pruned.code]).toEqual([0, 0, 0]);
  });

  test('with --mode for the other kind of table', async () => {
    const other = [
      '--table',
      `other_${table}`,
      '--mode',
      name === 'postgres' || name === 'mysql' ? 'lease' : 'transaction',
    ];
    expect((await inProject('migrate', url, ...other)).code).toBe(0);
    expect((await inProject('status', url, ...other)).stdout).toContain('0 ids');
  });
});

test('prune deletes what is older than asked, and nothing else', async () => {
  const url = String(process.env['CLI_POSTGRES_URL']);
  const options = ['--table', `old_${table}`];
  await inProject('migrate', url, ...options);
  const client = new Client({ connectionString: url });
  await client.connect();
  for (const days of [0, 1, 40, 100]) {
    const at = `now() - interval '${days} days'`;
    await client.query(`INSERT INTO old_${table} (event_id, received_at) VALUES (gen_random_uuid(), ${at})`);
  }
  await client.end();
  const count = async (): Promise<number> => (await inProject('status', url, ...options, '--json')).json<Kept>().count;
  expect(await count()).toBe(4);
  expect((await inProject('prune', url, ...options, '--json')).json()).toMatchObject({ deleted: 1 });
  expect((await inProject('prune', url, ...options, '--older-than', '7', '--json')).json()).toMatchObject({
    deleted: 1,
  });
  expect(await count()).toBe(2);
  const { stdout } = await inProject('status', url, ...options);
  expect(stdout.match(/^\d{4}-\d\d-\d\d {2}█+ 1$/gm)).toHaveLength(2);
});

describe('redis', () => {
  const url = String(process.env['CLI_REDIS_URL']);
  const prefix = `cli-${process.pid}:`;

  test('status draws the days, and neither migrate nor prune has anything to do', async () => {
    const client = new Redis(url);
    const store = redisStore(client, { prefix, logger: { warn() {} } });
    for (const id of ['a', 'b', 'c']) {
      const claim = await store.claim(id, { leaseMs: 10_000, retentionMs: 86_400_000 });
      if (claim.state === 'mine') await claim.done();
    }
    await store.close();
    client.disconnect();
    const { code, stdout } = await inProject('status', url, '--prefix', prefix);
    expect(stdout).toContain('3 ids');
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\d {2}█+ 3$/m);
    expect(code).toBe(0);
    for (const command of ['migrate', 'prune']) {
      expect(await inProject(command, url)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('Nothing to do'),
      });
    }
  });
});

describe('what stands in the way is said', () => {
  test('a package that is not installed, with what to install', async () => {
    const bare = mkdtempSync(join(tmpdir(), 'bare-'));
    writeFileSync(join(bare, 'app.sqlite'), '');
    const ended = await Promise.all(
      ['sqlite:./app.sqlite', 'postgres://localhost/x', 'mysql://localhost/x', 'redis://localhost'].map((url) =>
        run(['status', url], { cwd: bare }),
      ),
    );
    rmSync(bare, { recursive: true });
    expect(ended.map(({ code }) => code)).toEqual([3, 3, 3, 3]);
    expect(ended.map(({ stderr }) => /npm install (.*)/.exec(stderr)?.[1])).toEqual([
      '@factuarea-webhook/sqlite',
      '@factuarea-webhook/postgres pg',
      '@factuarea-webhook/mysql mysql2',
      '@factuarea-webhook/redis ioredis',
    ]);
  });

  test.each(['postgres', 'mysql', 'redis'])('a %s server that is not there, without its password', async (scheme) => {
    const { code, stdout, stderr } = await inProject('status', `${scheme}://me:hunter2@127.0.0.1:1/app`);
    expect(code).toBe(3);
    expect(stderr).toContain(`${scheme}://me:***@127.0.0.1:1/app`);
    expect(`${stdout}${stderr}`).not.toContain('hunter2');
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  test('a file that is not there', async () => {
    const { code, stderr } = await inProject('status', 'sqlite:./typo.sqlite');
    expect(code).toBe(3);
    expect(stderr).toContain('There is no file ./typo.sqlite');
  });

  test('options of another kind of store', async () => {
    expect((await inProject('status', 'redis://127.0.0.1:1', '--table', 'x')).code).toBe(2);
    expect((await inProject('status', 'postgres://127.0.0.1:1', '--prefix', 'x')).code).toBe(2);
  });
});
