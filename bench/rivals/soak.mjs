/** One process that takes deliveries without end or HTTP, and tells its memory now and then. Arguments: count, maxIds. */
import { createReceiver, memoryStore } from '@factuarea-webhook/core';
import { deliveries, incoming, secret } from '../load.mjs';

const [, , count, maxIds] = process.argv.map(Number);
const megabytes = (bytes) => bytes / 1_048_576;

const idBytes = { ours: await ours(), set: await inSet() };
const store = memoryStore({ maxIds });
const receiver = createReceiver({ secret, store, handler: async () => {} });
const rss = [];
const batch = count / 100;
for (let i = 0; i < 100; i++) {
  for (const delivery of deliveries(batch)) {
    const { status } = await receiver.receive(incoming(delivery));
    if (status !== 200) throw new Error(`Answered ${status}.`);
  }
  globalThis.gc();
  rss.push(megabytes(process.memoryUsage().rss));
}
process.send({ rss, idBytes }, () => process.disconnect());

/** Bytes of each id in the memory store, the id's own text among them. */
async function ours() {
  const kept = memoryStore({ maxIds: 1_000_000 });
  return grownPer(100_000, async (id) => {
    const claim = await kept.claim(id, { leaseMs: 20_000, retentionMs: 7_776_000_000 });
    await claim.done();
    return kept;
  });
}

async function inSet() {
  const kept = new Set();
  return grownPer(100_000, (id) => kept.add(id));
}

async function grownPer(times, work) {
  globalThis.gc();
  const before = process.memoryUsage().heapUsed;
  let kept;
  for (let i = 0; i < times; i++) kept = await work(crypto.randomUUID());
  globalThis.gc();
  const grown = process.memoryUsage().heapUsed - before;
  // Said here, so that what is measured is still held.
  if (!kept) throw new Error('Nothing was kept.');
  return grown / times;
}
