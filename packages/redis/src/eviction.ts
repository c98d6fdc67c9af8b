import type { Logger } from '@factuarea-webhook/core';
import type { RedisClient } from './client.ts';

/** Warns once, when the connection is first ready, of a server that may throw ids away when it is full. */
export function watchEviction(client: RedisClient, logger: Pick<Logger, 'warn'>): () => void {
  function look(): void {
    client.info('memory').then(warn, () => {
      // Some services hide INFO. The warning is a courtesy, so nothing is said about its absence.
    });
  }

  function warn(info: string): void {
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
    if (!policy || policy === 'noeviction') return;
    logger.warn(
      { code: 'redis_evicts', policy },
      `Redis runs with the maxmemory-policy "${policy}": when it is full it may forget which events were handled, and ` +
        'repeats are then handled again. Use "noeviction".',
    );
  }

  if (client.status === 'ready') look();
  else client.once('ready', look);
  return () => client.off('ready', look);
}
