import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Claim, OwnClaim } from '@factuarea-webhook/core';
import {
  createReceiver,
  type Outgoing,
  type Receiver,
  type ReceiverOptions,
  signDelivery,
} from '@factuarea-webhook/core';
import { newToken } from '@factuarea-webhook/core/store-kit';
import { Cluster as Cluster6, Redis as Redis6 } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';

export const lifetimes: { leaseMs: number; retentionMs: number } = { leaseMs: 15_000, retentionMs: 604_800_000 };

/** Both supported versions of the client. */
export const clients: [version: string, lib: { Redis: typeof Redis6; Cluster: typeof Cluster6 }][] = [
  ['ioredis 6', { Redis: Redis6, Cluster: Cluster6 }],
  // What the tests call of them is the same; that both fit the store as they are is checked in `test-types`.
  ['ioredis 5', { Redis: Redis5, Cluster: Cluster5 } as unknown as { Redis: typeof Redis6; Cluster: typeof Cluster6 }],
];

/** The server that the package's tests share. */
export function sharedUrl(): string {
  return process.env['TEST_REDIS_URL'] as string;
}

/** A key prefix that no other test has. */
export function freshPrefix(): string {
  return `test-${newToken()}:`;
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
  /** Ends it without a chance to say goodbye. */
  kill(): void;
  stop(): Promise<void>;
}

/** A Redis of the test's own, to be stopped, frozen and started again on its port. */
export async function startServer(options: { port?: number; args?: string[]; config?: string } = {}): Promise<Server> {
  const script = join(__dirname, '../../../scripts/servers/redis.mjs');
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
    kill: () => process.kill(pid, 'SIGKILL'),
    async stop() {
      child.stdin?.end();
      await exited;
    },
  };
}

const secret = 'whsec_test_of_the_stores';

/** A receiver that knows the secret of `deliver`. */
export function receiver(options: ReceiverOptions): Receiver {
  const quiet = { info() {}, warn() {}, error() {} };
  return createReceiver({ secret, cache: false, logger: quiet, ...options });
}

/** Delivers one event with this id. */
export async function deliver(to: Receiver, id: string): Promise<Outgoing & { code: string }> {
  const body = new TextEncoder().encode(JSON.stringify({ id, type: 'invoice.sent', data: {} }));
  const signature = await signDelivery({ secret, body });
  const outgoing = await to.receive({
    method: 'POST',
    header: (name) => (name === 'factuarea-signature' ? signature : undefined),
    body: async () => body,
  });
  return { ...outgoing, ...JSON.parse(outgoing.body ?? '{}') };
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
