// @ts-check
import { redisStore } from '@factuarea-webhook/redis';
import { Redis } from 'ioredis';

const LIST = 'example:handled';

/** @type {import('../store.js').Open} */
export async function open(url) {
  const client = new Redis(url);
  // Without a listener, ioredis writes every lost connection to the console by itself.
  client.on('error', (error) => console.error('redis:', error.message));
  return {
    store: redisStore(client),
    handled: {
      add: (entry) => client.rpush(LIST, JSON.stringify(entry)),
      list: async () => (await client.lrange(LIST, 0, -1)).map((entry) => JSON.parse(entry)),
    },
    close: () => client.quit(),
  };
}
