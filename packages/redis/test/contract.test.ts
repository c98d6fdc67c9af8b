import { storeContract } from '@factuarea-webhook/testing/store-contract';
import { describe, test } from '@jest/globals';
import { redisStore } from '../src/index.ts';
import { clients, freshPrefix, sharedUrl } from './support.ts';

for (const [version, { Redis }] of clients) {
  storeContract(
    {
      name: `redis, ${version}`,
      forgets: true,
      create() {
        const [client, other] = [new Redis(sharedUrl()), new Redis(sharedUrl())];
        const prefix = freshPrefix();
        const store = redisStore(client, { prefix });
        return {
          store,
          second: redisStore(other, { prefix }),
          forget: store.forget,
          close: () => Promise.all([client.quit(), other.quit()]),
        };
      },
    },
    { describe, test },
  );
}
