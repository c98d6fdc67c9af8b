import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { postgresStore } from '@factuarea-webhook/postgres';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { neonConfig, Pool, type PoolClient } from '@neondatabase/serverless';
import { WebSocket, WebSocketServer } from 'ws';
import { effectsTable, lifetimes, own, place, receiving, until, url } from './support.ts';

/** What stands before each Neon database: it carries a WebSocket's bytes to Postgres and back. */
async function webSocketProxy(): Promise<{ port: number; stop(): Promise<void> }> {
  const server: Server = createServer();
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket, request) => {
    const [host = '', port] = (new URL(request.url ?? '', 'ws://proxy').searchParams.get('address') ?? '').split(':');
    const postgres = connect(Number(port), host);
    socket.on('message', (data: Buffer) => postgres.write(data));
    postgres.on('data', (data) => socket.send(data));
    socket.on('close', () => postgres.destroy());
    postgres.on('close', () => socket.close());
    for (const end of [socket, postgres]) end.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      for (const socket of sockets.clients) socket.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

let here: Awaited<ReturnType<typeof place>>;
let proxy: Awaited<ReturnType<typeof webSocketProxy>>;
let pool: Pool;

beforeAll(async () => {
  here = await place();
  proxy = await webSocketProxy();
  Object.assign(neonConfig, {
    webSocketConstructor: WebSocket,
    wsProxy: (host: string, port: number) => `127.0.0.1:${proxy.port}/?address=${host}:${port}`,
    useSecureWebSocket: false,
    // For passwords and TLS, which the tests' server has not.
    pipelineConnect: false,
    pipelineTLS: false,
  });
  pool = new Pool({ connectionString: url, options: `-c search_path=${here.schema}` });
  await pool.query(effectsTable);
});
afterAll(async () => {
  await pool.end();
  await proxy.stop();
  await here.close();
});

async function effects(id: string): Promise<number> {
  return (await pool.query('SELECT count(*)::int AS count FROM effects WHERE id = $1', [id])).rows[0].count;
}

describe.each(['transaction', 'lease'] as const)('Neon’s pool over a WebSocket, mode %s', (mode) => {
  const store = () => postgresStore(pool, { mode });
  beforeAll(() => store().migrate());

  test('a failed run is undone or repeated, copies are told apart, and repeats are known', async () => {
    const id = `neon_${mode}`;
    let fails = true;
    const post = receiving<PoolClient | undefined>({
      store: store(),
      cache: false,
      async handler(event, { tx }) {
        await tx?.query('INSERT INTO effects VALUES ($1)', [event.id]);
        if (fails) throw new Error('Not yet.');
        await new Promise((resolve) => setTimeout(resolve, 50));
      },
    });
    expect(await post(id)).toMatchObject({ code: 'handler_failed' });
    expect(await effects(id)).toBe(0);
    fails = false;
    const codes = (await Promise.all(Array.from({ length: 20 }, () => post(id)))).map(({ code }) => code);
    expect(codes.filter((code) => code === 'handled')).toHaveLength(1);
    expect(codes.filter((code) => code === 'in_progress')).toHaveLength(19);
    expect(await post(id)).toMatchObject({ code: 'repeat' });
    expect(await effects(id)).toBe(mode === 'transaction' ? 1 : 0);
  });

  test('marks, releases, forgets and prunes', async () => {
    const one = store();
    await (await own(one.claim('released', lifetimes))).release();
    const claim = await own(one.claim('released', lifetimes));
    expect(await claim.done()).toBe(true);
    expect(await claim.done()).toBe(true);
    expect(await one.claim('released', lifetimes)).toEqual({ state: 'done' });
    expect(await one.forget('released')).toBe(true);
    await (await own(one.claim('released', lifetimes))).done();
    const { count } = await one.stats();
    expect(await one.prune({ olderThan: new Date(Date.now() + 1000) })).toBe(count);
    expect(await one.stats()).toMatchObject({ count: 0 });
  });
});

test('what a Neon transaction wrote is gone when it is abandoned, or when a statement in it has failed', async () => {
  const store = postgresStore(pool);
  const abandoned = await own(store.claim('abandoned', lifetimes));
  await abandoned.tx.query("INSERT INTO effects VALUES ('abandoned')");
  await abandoned.abandon?.();
  const failed = await own(store.claim('failed', lifetimes));
  await failed.tx.query("INSERT INTO effects VALUES ('failed')");
  await failed.tx.query('SELECT 1 / 0').catch(() => {});
  await expect(failed.done()).rejects.toMatchObject({ code: 'commit_rolled_back' });
  const again = await until(async () => {
    const claim = await store.claim('abandoned', lifetimes);
    return claim.state === 'mine' && claim;
  });
  await again.done();
  expect(await effects('abandoned')).toBe(0);
  expect(await effects('failed')).toBe(0);
});
