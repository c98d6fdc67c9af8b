import { fork } from 'node:child_process';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { percentile } from './figures.mjs';

export const secret = `whsec_${randomBytes(24).toString('base64url')}`;

const script = fileURLToPath(new URL('./rivals/server.mjs', import.meta.url));

/** Starts one contender as a process of its own. */
export async function startServer(...args) {
  const child = fork(script, args, {
    env: { ...process.env, FACTUAREA_WEBHOOK_SECRET: secret, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const lines = createInterface({ input: child.stdout });
  const [port] = await Promise.race([once(lines, 'line'), once(lines, 'close')]);
  if (!port) throw new Error(`The server \`${args.join(' ')}\` did not start.`);
  return {
    url: `http://127.0.0.1:${port}`,
    /** The processor time that it has taken so far, in seconds. */
    async processorSeconds() {
      child.send('how much?');
      const [{ user, system }] = await once(child, 'message');
      return (user + system) / 1e6;
    },
    async stop() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}

/** Signed deliveries of `invoice.sent`, 1 KB each. */
export function deliveries(count) {
  return Array.from({ length: count }, () => {
    const body = JSON.stringify({
      id: randomUUID(),
      type: 'invoice.sent',
      created: 1767225600,
      data: { type: 'invoice.sent', object: { object: 'invoice', id: randomUUID(), notes: 'x'.repeat(800) } },
    });
    const headers = { 'content-type': 'application/json', 'factuarea-signature': signature(body) };
    return { method: 'POST', path: '/', headers, body };
  });
}

// Not `signDelivery`: a million of these are made while others are measured, and a promise for each is much.
function signature(body) {
  const t = Math.floor(Date.now() / 1000);
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`;
}

/** What an adapter hands to a receiver for one of these deliveries. */
export function incoming({ method, headers, body }) {
  return { method, header: (name) => headers[name], body: async () => Buffer.from(body) };
}

/**
 * Sends every request once over kept-alive connections. Gives requests per second, requests per second of the server's
 * processor time, and the p99 in milliseconds.
 */
async function shoot(server, requests, connections = 20) {
  const shares = Array.from({ length: connections }, (_, i) => requests.filter((_, j) => j % connections === i));
  let next = 0;
  const times = [];
  let ended;
  const processorBefore = await server.processorSeconds();
  const started = performance.now();
  const run = autocannon({
    url: server.url,
    connections,
    amount: requests.length,
    setupClient: (client) => client.setRequests(shares[next++ % connections]),
    // It looks this often whether it is done, a second apart unless told.
    sampleInt: 20,
  });
  run.on('response', (_client, _status, _bytes, ms) => {
    times.push(ms);
    ended = performance.now();
  });
  const result = await run;
  const processor = (await server.processorSeconds()) - processorBefore;
  const bad = result.non2xx + result.errors + result.timeouts;
  if (bad > 0) throw new Error(`${bad} of ${requests.length} requests were not answered with a 2xx.`);
  return {
    perSecond: (requests.length / (ended - started)) * 1000,
    perProcessorSecond: requests.length / processor,
    p99: percentile(times, 0.99),
  };
}

/**
 * Shoots what `load` makes at each server in turn, round after round. `load` gives what is shot and counted, and may
 * give what is shot first without being counted.
 */
export async function rounds(servers, { rounds, load }) {
  const names = Object.keys(servers);
  const results = Object.fromEntries(names.map((name) => [name, { perSecond: [], perProcessorSecond: [], p99: [] }]));
  // The first two warm the compilers up and are not counted.
  for (let round = -2; round < rounds; round++) {
    for (const name of round % 2 ? names : names.toReversed()) {
      const { before, counted } = load();
      if (before) await shoot(servers[name], before);
      const result = await shoot(servers[name], counted);
      if (round < 0) continue;
      for (const [measure, values] of Object.entries(results[name])) values.push(result[measure]);
    }
  }
  return results;
}
