export type { StoreStats } from '@factuarea-webhook/core/store-kit';
export type { RedisClient, RedisNode } from './client.ts';
export { type RedisStore, type RedisStoreOptions, redisStore } from './store.ts';
