import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Claim, createReceiver, type FactuareaEvent, type Incoming, type Store } from '@factuarea-webhook/core';
import { record } from './history.ts';
import type { Message, Plan, Point, ReceiverConfig, RigModule } from './rig.ts';

/** The child process: a receiver on plain HTTP, which writes down what it does and can be held at a point. */
const config = JSON.parse(process.argv[3] ?? '{}') as ReceiverConfig;
const tell = (message: Message): unknown => process.send?.(message);
let held = false;

// The sender's signatures are made by the true clock, and the receiver's view of it is no matter of the store.
const trueNow = Date.now;
const { clockOffsetsMs = [] } = config;
if (clockOffsetsMs.length > 0) {
  let looks = 0;
  const TrueDate = Date;
  const wrongNow = (): number => trueNow() + (clockOffsetsMs[looks++ % clockOffsetsMs.length] ?? 0);
  globalThis.Date = class extends TrueDate {
    constructor(...given: [] | [number | string]) {
      super(...((given.length > 0 ? given : [wrongNow()]) as [number]));
    }
    static override now = wrongNow;
  } as DateConstructor;
}

async function reach(point: Point, id: string): Promise<void> {
  if (point !== config.holdAt || held) return;
  held = true;
  // Held until a signal: SIGKILL, or SIGCONT after a SIGSTOP. Listened for before the parent can send one.
  const woken = new Promise((resolve) => process.once('SIGCONT', resolve));
  tell({ kind: 'reached', point, id });
  await woken;
}

/** The store, with the points in its way and the lease on a fast clock. */
function watched<Tx>(store: Store<Tx>): Store<Tx> {
  return {
    async claim(id, options): Promise<Claim<Tx>> {
      await reach('before-claim', id);
      const claim = await store.claim(id, config.leaseMs ? { ...options, leaseMs: config.leaseMs } : options);
      if (claim.state !== 'mine') return claim;
      await reach('after-claim', id);
      return {
        ...claim,
        async done() {
          const stands = await claim.done();
          await reach('after-mark', id);
          return stands;
        },
      };
    },
  };
}

async function main(): Promise<void> {
  const { open } = (await import(config.rig)) as RigModule<unknown>;
  const { store, effect } = await open(config.settings);
  const failures = new Map<string, number>();
  const receiver = createReceiver<unknown>({
    secret: config.secret,
    store: watched(store),
    nowSeconds: () => trueNow() / 1000,
    logger: { info() {}, warn() {}, error() {} },
    ...config.options,
    async handler(event: FactuareaEvent, { tx, fence }) {
      const { id } = event;
      const plan = ((event.data as { plan?: Plan } | undefined)?.plan ?? {}) as Plan;
      record(config.history, { kind: 'start', id, fence });
      await reach('mid-handler', id);
      if (plan.waitMs) await new Promise((resolve) => setTimeout(resolve, plan.waitMs));
      if (plan.blockMs) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, plan.blockMs);
      await effect(id, tx);
      await reach('after-effect', id);
      if (plan.never) await new Promise(() => {});
      const failed = failures.get(id) ?? 0;
      if (failed < (plan.failTimes ?? 0)) {
        failures.set(id, failed + 1);
        throw new Error('This run fails.');
      }
      record(config.history, { kind: 'success', id, fence });
    },
  });

  const server = createServer(async (request, response) => {
    const out = await receiver.receive(incoming(request));
    await reach('before-response', '');
    response.writeHead(out.status, out.headers).end(out.body);
  });
  // A connection that is closed while the next delivery is on its way would look like a process that died.
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1', () => tell({ kind: 'ready', port: (server.address() as AddressInfo).port }));
  process.once('disconnect', () => process.exit(0));
}

function incoming(request: IncomingMessage): Incoming {
  return {
    method: request.method ?? '',
    header: (name) => request.headers[name],
    async body() {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      return Buffer.concat(pieces);
    },
  };
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
