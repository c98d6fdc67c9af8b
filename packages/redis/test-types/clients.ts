import type { Store } from '@factuarea-webhook/core';
import type { Cluster, Redis } from 'ioredis';
import type { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { redisStore } from '../src/index.ts';

/** Every client of both versions fits as it is, and the store fits a receiver without a transaction. */
export function fits(single: Redis, cluster: Cluster, single5: Redis5, cluster5: Cluster5): Store<undefined>[] {
  return [redisStore(single), redisStore(cluster), redisStore(single5), redisStore(cluster5)];
}
