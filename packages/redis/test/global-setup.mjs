import { start } from '../../../scripts/servers/redis.mjs';

/** One Redis for the whole package, whose address the tests find in `TEST_REDIS_URL`. */
export default async function setup() {
  const server = await start();
  process.env.TEST_REDIS_URL = server.url;
  globalThis.stopRedis = server.stop;
}
