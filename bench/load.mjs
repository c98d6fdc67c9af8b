import { fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { signDelivery } from '@factuarea-webhook/core';
import autocannon from 'autocannon';

export const secret = `whsec_${randomBytes(24).toString('base64url')}`;

const script = fileURLToPath(new URL('./rivals/server.mjs', import.meta.url));

/** Starts one contender as a process of its own. */
export async function startServer(...args) {
  const child = fork(script, args, {
    env: { ...process.env, FACTUAREA_WEBHOOK_SECRET: secret, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const [port] = await once(createInterface({ input: child.stdout }), 'line');
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid,
    async stop() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}

/** Signed deliveries of `invoice.sent`, 1 KB each. With `copies`, each event comes so many times. */
export async function deliveries(count, copies = 1) {
  const made = [];
  for (let i = 0; i < count / copies; i++) {
    const body = JSON.stringify({
      id: randomUUID(),
      type: 'invoice.sent',
      created: 1767225600,
      data: { type: 'invoice.sent', object: { object: 'invoice', id: randomUUID(), notes: 'x'.repeat(800) } },
    });
    const headers = { 'content-type': 'application/json', 'factuarea-signature': await signDelivery({ body, secret }) };
    for (let copy = 0; copy < copies; copy++) made.push({ method: 'POST', path: '/', headers, body });
  }
  return made;
}

/** Sends every request once over kept-alive connections. Gives requests per second and the p99 in milliseconds. */
export async function shoot(url, requests, connections = 20) {
  const shares = Array.from({ length: connections }, (_, i) => requests.filter((_, j) => j % connections === i));
  let next = 0;
  const started = performance.now();
  const result = await autocannon({
    url,
    connections,
    amount: requests.length,
    setupClient: (client) => client.setRequests(shares[next++ % connections]),
  });
  const seconds = (performance.now() - started) / 1000;
  const bad = result.non2xx + result.errors + result.timeouts;
  if (bad > 0) throw new Error(`${bad} of ${requests.length} requests to ${url} were not answered with a 2xx.`);
  return { perSecond: requests.length / seconds, p99: result.latency.p99 };
}

/** Shoots the same number of fresh deliveries at each server in turn, round after round. */
export async function rounds(servers, { count, rounds, copies, connections }) {
  const names = Object.keys(servers);
  const results = Object.fromEntries(names.map((name) => [name, []]));
  // The first round warms the compilers up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    for (const name of round % 2 ? names : names.toReversed()) {
      const result = await shoot(servers[name].url, await deliveries(count, copies), connections);
      if (round > 0) results[name].push(result);
    }
  }
  return results;
}
