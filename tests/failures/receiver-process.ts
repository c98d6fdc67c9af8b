import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { signDelivery } from '@factuarea-webhook/core';
import { record } from './history.ts';
import type { Message, Plan, Point, ReceiverConfig } from './rig.ts';

/** What came back for a delivery. `status` 0: the connection ended without an answer. */
export interface Answered {
  readonly status: number;
  readonly code: string;
  readonly retryAfter: string | undefined;
  readonly ms: number;
}

/** A receiver in a process of its own. */
export interface ReceiverProcess {
  readonly pid: number;
  /** Delivers one copy of an event, newly signed. Never rejects. */
  deliver(id: string, plan?: Plan): Promise<Answered>;
  /** Resolves once the process is held at its point. */
  readonly reached: Promise<{ point: Point; id: string }>;
  /** Sends the signal. `SIGKILL` resolves once the process is gone. */
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a receiver on the rig's store. */
export async function startReceiver(config: ReceiverConfig): Promise<ReceiverProcess> {
  const child = fork(join(__dirname, 'register.cjs'), [join(__dirname, 'receiver-main.ts'), JSON.stringify(config)]);
  const gone = once(child, 'exit');
  const reached = messageOf(child, 'reached');
  const failed = gone.then(() => {
    throw new Error('The receiver process ended before it was ready; its error is above.');
  });
  const { port } = await Promise.race([messageOf(child, 'ready'), failed]);
  failed.catch(() => {});
  const pid = child.pid as number;
  const agent = new Agent({ keepAlive: true });
  return {
    pid,
    reached,
    deliver: (id, plan) => deliver({ port, agent }, config, id, plan),
    async signal(name) {
      child.kill(name);
      if (name === 'SIGKILL') await gone;
    },
    async stop() {
      agent.destroy();
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await gone;
    },
  };
}

function messageOf<Kind extends Message['kind']>(
  child: ChildProcess,
  kind: Kind,
): Promise<Extract<Message, { kind: Kind }>> {
  return new Promise((resolve) => {
    child.on('message', (message) => {
      if ((message as Message).kind === kind) resolve(message as Extract<Message, { kind: Kind }>);
    });
  });
}

async function deliver(
  to: { readonly port: number; readonly agent: Agent },
  config: ReceiverConfig,
  id: string,
  plan: Plan = {},
): Promise<Answered> {
  const body = JSON.stringify({ id, type: 'invoice.sent', data: { plan } });
  const signature = await signDelivery({ body, secret: config.secret });
  const startedAt = performance.now();
  const answered = await new Promise<Answered>((resolve) => {
    const end = (status: number, code: string, retryAfter?: string): void =>
      resolve({ status, code, retryAfter, ms: performance.now() - startedAt });
    const headers = { 'content-type': 'application/json', 'factuarea-signature': signature };
    const sent = request({ ...to, host: '127.0.0.1', method: 'POST', headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', () => end(0, 'cut'));
      response.on('end', () => {
        const { code } = JSON.parse(Buffer.concat(pieces).toString()) as { code: string };
        end(response.statusCode ?? 0, code, response.headers['retry-after']);
      });
    });
    sent.on('error', () => end(0, 'cut'));
    sent.end(body);
  });
  record(config.history, { kind: 'answer', id, status: answered.status });
  return answered;
}
