import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Claim, OwnClaim } from '@factuarea-webhook/core';
import { createPool, type Pool, type PoolOptions } from 'mysql2/promise';

export const lifetimes: { leaseMs: number; retentionMs: number } = { leaseMs: 15_000, retentionMs: 604_800_000 };

/** The server that the package's tests share. */
export function sharedUrl(): string {
  return process.env['TEST_MYSQL_URL'] as string;
}

export function connect(options: PoolOptions = {}): Pool {
  return createPool({ uri: sharedUrl(), connectionLimit: 10, ...options });
}

/** A table name that no other test has. */
export function freshTable(name = 'ids'): string {
  return `${name}_${Date.now().toString(36)}_${Math.random().toString(36).slice(2, 10)}`;
}

export function own<Tx>(claim: Claim<Tx>): OwnClaim<Tx> {
  if (claim.state !== 'mine') throw new Error(`The claim is "${claim.state}".`);
  return claim;
}

/** Waits until `check` gives something true. */
export async function until<Value>(
  check: () => Value | Promise<Value>,
  limitMs = 10_000,
): Promise<Exclude<Value, false | undefined>> {
  const end = Date.now() + limitMs;
  for (;;) {
    const value = await check();
    if (value) return value as Exclude<Value, false | undefined>;
    if (Date.now() > end) throw new Error(`It did not come true within ${limitMs} ms: ${check}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export interface Server {
  readonly url: string;
  readonly port: number;
  /** Freezes the server's process: resolves once it stands still. */
  pause(): Promise<void>;
  resume(): void;
  stop(): Promise<void>;
}

/** A MariaDB of the test's own, to be stopped, frozen and started again on its port and data. */
export async function startServer(options: object = {}): Promise<Server> {
  const script = join(__dirname, '../../../scripts/servers/mariadb.mjs');
  const child: ChildProcess = spawn(process.execPath, [script, JSON.stringify({ own: true, ...options })], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const [line] = await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line');
  const { url, pid } = JSON.parse(line as string) as { url: string; pid: number };
  return {
    url,
    port: Number(new URL(url).port),
    async pause() {
      process.kill(pid, 'SIGSTOP');
      // The signal is sent at once, but each thread stops in its own time.
      await until(() =>
        readdirSync(`/proc/${pid}/task`).every((thread) => isStopped(`/proc/${pid}/task/${thread}/stat`)),
      );
    },
    resume: () => process.kill(pid, 'SIGCONT'),
    async stop() {
      child.stdin?.end();
      await exited;
    },
  };
}

/**
 * Milliseconds that `work` took beyond `limitMs`. Counted from a timer of that length, so that a machine that is slow to
 * run any timer at all is not taken for a store that answers late.
 */
export async function lateness(limitMs: number, work: () => Promise<unknown>): Promise<number> {
  let dueAt: number | undefined;
  const timer = setTimeout(() => {
    dueAt = performance.now();
  }, limitMs);
  await work();
  clearTimeout(timer);
  return dueAt === undefined ? 0 : performance.now() - dueAt;
}

function isStopped(stat: string): boolean {
  return readFileSync(stat, 'utf8').includes(') T ');
}
