import { type Claim, type ClaimOptions, FactuareaWebhookError, type Logger, type Store } from '@factuarea-webhook/core';
import {
  checkNames,
  configError,
  eventIdOf,
  newToken,
  type StoreStats,
  timeoutMsOf,
} from '@factuarea-webhook/core/store-kit';
import type { RedisClient } from './client.ts';
import { scriptRunner } from './commands.ts';
import { watchEviction } from './eviction.ts';
import { claimScript, doneScript, extendScript, forgetScript, releaseScript } from './scripts.ts';
import { readStats } from './stats.ts';

/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /**
   * What every key begins with. Default `factuarea-webhook:`. Give each consuming system its own: two apps with one
   * prefix would take each other's events for repeats.
   */
  readonly prefix?: string;
  /** The time limit of one call, in seconds. Default: the receiver's `storeTimeoutSeconds`, 2. */
  readonly timeoutSeconds?: number;
  /** Told when Redis may evict ids, and when a silent connection is made anew. Default: the console. */
  readonly logger?: Pick<Logger, 'warn'>;
}

/** A store in Redis. It needs no pruning: each key carries the retention as its time to live. */
export interface RedisStore extends Store<undefined> {
  claim(id: string, options: ClaimOptions): Promise<Claim<undefined>>;
  /** Forgets an id, so that its next delivery is handled again. True when it was known. */
  forget(id: string): Promise<boolean>;
  /** Counts the ids that are done, by looking through all keys: for the command line, not for every request. */
  stats(): Promise<StoreStats>;
  /** Stops listening to the client, which stays open: it is yours. */
  close(): Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 2000;
const optionNames = ['prefix', 'timeoutSeconds', 'logger'];

/**
 * Keeps ids in Redis 6 or newer, through your ioredis client: single, Sentinel or Cluster. One key per id holds a lease
 * while a handler runs, and afterwards that it is done.
 *
 * Redis may forget ids when it fails over, evicts keys or loses its log. The event is then handled again, never lost.
 *
 * @throws `config_error` for an option that cannot work. Calls reject with `store_unavailable`.
 * @example
 * ```ts
 * import { redisStore } from '@factuarea-webhook/redis';
 * import { Redis } from 'ioredis';
 *
 * const store = redisStore(new Redis(process.env.REDIS_URL), { prefix: 'billing:' });
 * ```
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): RedisStore {
  const { prefix, timeoutMs, logger } = check(client, options);
  const upkeepMs = timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const run = scriptRunner(client, logger);
  const stopWatching = watchEviction(client, logger);

  async function claim(id: string, claimOptions: ClaimOptions): Promise<Claim<undefined>> {
    const key = prefix + id;
    const token = newToken();
    const limit = timeoutMs ?? claimOptions.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const [lease, retention] = [Math.ceil(claimOptions.leaseMs), Math.ceil(claimOptions.retentionMs)];
    const release = async (): Promise<void> => {
      await run(releaseScript, key, [token], limit);
    };
    // Nobody waits for a claim that is granted after its call has failed, so it is given back.
    const late = (reply: unknown): void => {
      if (Array.isArray(reply) && reply[0] === 'mine') release().catch(() => {});
    };
    const reply = await run(claimScript, key, [token, lease, retention], limit, late);
    const [state, detail] = reply as ['done' | 'busy' | 'mine' | 'ended', string];
    if (state === 'done') return { state };
    if (state === 'busy') return { state, retryAfterMs: Number(detail) };
    if (state === 'ended') throw new FactuareaWebhookError('store_unavailable', 'The claim was given back meanwhile.');
    return {
      state: 'mine',
      tx: undefined,
      fence: Number(detail),
      release,
      done: async () => (await run(doneScript, key, [token, detail, retention], limit)) === 1,
      extend: async (ms) => (await run(extendScript, key, [token, detail, retention, Math.ceil(ms)], limit)) === 1,
    };
  }

  return {
    claim,
    forget: async (id) => (await run(forgetScript, prefix + eventIdOf(id), [], upkeepMs)) === 1,
    stats: () => readStats(client, prefix, upkeepMs),
    async close() {
      stopWatching();
    },
  };
}

function check(
  client: RedisClient,
  options: RedisStoreOptions,
): { prefix: string; timeoutMs: number | undefined; logger: Pick<Logger, 'warn'> } {
  for (const method of ['evalsha', 'eval', 'connect'] as const) {
    if (typeof client?.[method] !== 'function') {
      throw configError('The first argument must be an ioredis client: redisStore(new Redis(url)).');
    }
  }
  checkNames(options, optionNames);
  const { prefix = 'factuarea-webhook:', timeoutSeconds, logger = consoleLogger } = options;
  if (typeof prefix !== 'string' || prefix === '') throw configError('`prefix` must be a text, such as "billing:".');
  if (typeof logger?.warn !== 'function') throw configError('`logger` has no method `warn`.');
  return { prefix, timeoutMs: timeoutMsOf(timeoutSeconds), logger };
}

const consoleLogger: Pick<Logger, 'warn'> = { warn: (fields, message) => console.warn(message, fields) };
