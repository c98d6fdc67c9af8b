import { join } from 'node:path';
import { Redis } from 'ioredis';
import { processSuite } from '../../../tests/failures/process-suite.ts';
import { freshPrefix, sharedUrl } from './support.ts';

processSuite({
  name: 'redis',
  rig: join(__dirname, 'rig.ts'),
  transactional: false,
  async create() {
    const client = new Redis(sharedUrl());
    const prefix = freshPrefix();
    return {
      settings: { url: sharedUrl(), prefix },
      async effects() {
        const counts = Object.entries(await client.hgetall(`${prefix}effects`));
        return new Map(counts.map(([id, count]) => [id, Number(count)]));
      },
      close: () => client.quit(),
    };
  },
});
