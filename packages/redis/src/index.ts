export type { RedisClient, RedisNode } from './client.ts';
export type { StoreStats } from './stats.ts';
export { type RedisStore, type RedisStoreOptions, redisStore } from './store.ts';
