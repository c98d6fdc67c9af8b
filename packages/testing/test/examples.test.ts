import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { signDelivery } from '@factuarea-webhook/core';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Recorded, recorded } from './recorded.ts';

const secrets = { company: 'whsec_5Jd8Pw3yHs6TqUc0RfGz', account: 'whsec_7Qm2Zr9tLk4XvB1nAe6H' };
const examples = join(__dirname, '../../../examples');

interface Played {
  readonly answers: readonly (readonly [name: string, status: number, body: string])[];
  readonly handled: readonly object[];
}

/** Every example in both forms; Next has two routers, and so plays twice. */
const subjects: [name: string, folder: string, args: string[], base: string][] = [
  ['express', 'express', ['server.js'], '/factuarea'],
  ['fastify', 'fastify', ['server.js'], '/factuarea'],
  ['hono', 'hono', ['server.js'], '/factuarea'],
  ['next, App Router', 'next', nextBin('start', '-H', '127.0.0.1'), '/factuarea'],
  ['next, Pages Router', 'next', nextBin('start', '-H', '127.0.0.1'), '/api/factuarea'],
];

function nextBin(...args: string[]): string[] {
  return [join(examples, 'next/node_modules/next/dist/bin/next'), ...args];
}

function start(folder: string, args: string[], env: Record<string, string>): ChildProcess & { text: string } {
  const child = spawn(process.execPath, args, {
    cwd: join(examples, folder),
    env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', ...env },
  });
  const told = Object.assign(child, { text: '' });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      told.text += chunk;
    });
  }
  return told;
}

async function play(folder: string, args: string[], base: string): Promise<Played> {
  const child = start(folder, args, {
    PORT: '0',
    STORE_URL: 'memory:',
    FACTUAREA_WEBHOOK_SECRET: `${secrets.company},${secrets.account}`,
  });
  const ended = once(child, 'close');
  try {
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.on('data', () => {
        const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(child.text) ?? [];
        if (found) resolve(found);
      });
      ended.then(() => reject(new Error(`The example ended:\n${child.text}`)), reject);
    });
    const answers: [string, number, string][] = [];
    for (const one of recorded) {
      const response = await fetch(`${url}${base}/${one.route}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(await signature(one)), ...one.headers },
        body: new TextEncoder().encode(one.body),
      });
      answers.push([`${one.route}: ${one.name}`, response.status, await response.text()]);
    }
    const list = JSON.parse(await (await fetch(`${url}/handled`)).text()) as { at: string }[];
    return { answers, handled: list.map(({ at: _at, ...entry }) => entry) };
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

async function signature({ signed, body }: Recorded): Promise<Record<string, string>> {
  if (signed === 'not at all') return {};
  const now = Math.floor(Date.now() / 1000);
  const secret = {
    company: secrets.company,
    account: secrets.account,
    both: [secrets.account, secrets.company],
    wrong: 'whsec_another',
    stale: secrets.company,
  }[signed];
  const timestamp = signed === 'stale' ? now - 3600 : now;
  return { 'factuarea-signature': await signDelivery({ body, secret, timestamp }) };
}

describe('the same recorded deliveries at every example', () => {
  let express: Played;

  beforeAll(async () => {
    const build = start('next', nextBin('build'), {});
    const [code] = await once(build, 'close');
    if (code !== 0) throw new Error(`next build ended with ${code}:\n${build.text}`);
    express = await play('express', ['server.js'], '/factuarea');
  }, 300_000);

  test('are forty', () => {
    expect(recorded).toHaveLength(40);
  });

  test.each(subjects)(
    '%s: the statuses, bodies and effects of Express',
    async (_name, folder, args, base) => {
      const played = await play(folder, args, base);
      expect(played.answers.map(([name, status]) => [name, status])).toEqual(
        recorded.map(({ route, name, status }) => [`${route}: ${name}`, status]),
      );
      expect(played).toEqual(express);
      expect(played.handled).toHaveLength(16);
    },
    60_000,
  );
});
