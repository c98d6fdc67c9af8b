import { Redis } from 'ioredis';
import type { Rig } from '../../../tests/failures/rig.ts';
import { redisStore } from '../src/index.ts';

/** The effect of an event is a counter that repeats can be seen in. */
export async function open(settings: Readonly<Record<string, unknown>>): Promise<Rig<undefined>> {
  const client = new Redis(String(settings['url']));
  client.on('error', () => {});
  const prefix = String(settings['prefix']);
  return {
    store: redisStore(client, { prefix }),
    async effect(id) {
      await client.hincrby(`${prefix}effects`, id, 1);
    },
  };
}
