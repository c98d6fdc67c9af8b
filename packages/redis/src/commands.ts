import { FactuareaWebhookError, type Logger } from '@factuarea-webhook/core';
import { pause, within } from '@factuarea-webhook/core/store-kit';
import type { RedisClient } from './client.ts';
import type { Script } from './scripts.ts';

/** Runs one script on one key. `late` is given the answer of a command that came after the call had failed. */
export type RunScript = (
  script: Script,
  key: string,
  args: readonly (string | number)[],
  timeoutMs: number,
  late?: (reply: unknown) => void,
) => Promise<unknown>;

/**
 * Runs scripts within a time limit. Every script here may run twice with the same arguments: that is what makes it safe
 * to send one again when its reply is lost.
 */
export function scriptRunner(client: RedisClient, logger: Pick<Logger, 'warn'>): RunScript {
  // Since when commands have been under way without one answer.
  let silentSince: number | undefined;

  async function call({ sha, text }: Script, key: string, args: readonly (string | number)[]): Promise<unknown> {
    const rest = args.map(String);
    silentSince ??= performance.now();
    try {
      return await client.evalsha(sha, 1, key, ...rest);
    } catch (error) {
      // A restart, a failover or SCRIPT FLUSH makes the server forget. EVAL also teaches it again.
      if (!/^NOSCRIPT/.test(messageOf(error))) throw error;
      return await client.eval(text, 1, key, ...rest);
    }
  }

  /** Whether commands can be written. ioredis would queue them otherwise, and run them at any later time. */
  async function isReady(end: number): Promise<boolean> {
    if (client.status === 'wait') client.connect().catch(() => {});
    while (client.status !== 'ready' && client.status !== 'end' && performance.now() < end) await pause(20);
    return client.status === 'ready';
  }

  /** A connection that a firewall has forgotten looks open for many minutes, so a silent one is made anew. */
  function reconnectSilent(timeoutMs: number): void {
    if (client.isCluster || client.status !== 'ready' || !silentSince) return;
    if (performance.now() - silentSince < 2 * timeoutMs) return;
    silentSince = undefined;
    logger.warn({ code: 'redis_silent' }, 'Redis has not answered for a while: the connection is made anew.');
    client.disconnect(true);
  }

  return async (script, key, args, timeoutMs, late) => {
    const end = performance.now() + timeoutMs;
    const calls: Promise<unknown>[] = [];
    let failure: unknown = TOO_LATE;
    // The last quarter is left for the answer.
    while (await isReady(end - timeoutMs / 4)) {
      const answer = call(script, key, args);
      calls.push(answer);
      try {
        const reply = await within(answer, Math.min(timeoutMs / 2, end - performance.now()), () => TOO_LATE);
        silentSince = undefined;
        return reply;
      } catch (error) {
        failure = error;
      }
      if (isReply(failure)) {
        silentSince = undefined;
        break;
      }
      if (performance.now() >= end) break;
      await pause(20);
    }
    reconnectSilent(timeoutMs);
    // ioredis sends a command again after a reconnect, so an answer may still come.
    for (const answer of calls) answer.then(late, () => {});
    if (client.status !== 'ready') throw unavailable(`the connection is in state "${client.status}"`, failure);
    throw failed(failure, timeoutMs);
  };
}

/** A command's answer, or `store_unavailable` where none comes in time. */
export function answered<Value>(answer: Promise<Value>, timeoutMs: number): Promise<Value> {
  return within(answer, timeoutMs, () => TOO_LATE).catch((error: unknown) => {
    throw failed(error, timeoutMs);
  });
}

function failed(error: unknown, timeoutMs: number): FactuareaWebhookError {
  return unavailable(error === TOO_LATE ? `no answer within ${timeoutMs} ms` : messageOf(error), error);
}

const TOO_LATE = new Error('No answer in time.');

/** Whether the server itself refused, so that asking again at once is no use. */
function isReply(error: unknown): boolean {
  return (error as { name?: unknown } | null)?.name === 'ReplyError';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const hints: Record<string, string> = {
  READONLY: 'The client is connected to a replica. Connect through Sentinel, or set `reconnectOnError`.',
  LOADING: 'Redis is reading its data after a start, and answers when it is done.',
  MOVED: 'This is a node of a cluster. Connect with `new Cluster([…])`.',
  CLUSTERDOWN: 'Part of the cluster has no master.',
  MASTERDOWN: 'The replica has lost its master.',
  OOM: 'Redis is full. Give it more memory, with the policy `noeviction`.',
  NOPERM: 'The user may not do this. Allow EVAL, EVALSHA, GET, SET, TIME and INFO on keys with our prefix.',
  NOAUTH: 'Redis wants a password.',
  WRONGTYPE: 'Something else writes keys with this prefix. Choose another `prefix`.',
  FOREIGN: 'Something else writes keys with this prefix. Choose another `prefix`.',
};

function unavailable(why: string, cause?: unknown): FactuareaWebhookError {
  const hint = hints[why.split(' ', 1)[0] as string] ?? 'Check that Redis is reachable.';
  return new FactuareaWebhookError('store_unavailable', `Redis did not do what was asked: ${why}. ${hint}`, { cause });
}
