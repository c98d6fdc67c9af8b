import type { StoreStats } from '@factuarea-webhook/core/store-kit';
import type { RedisClient, RedisNode } from './client.ts';
import { answered } from './commands.ts';

/** Looks through every key of every master. Each page is small, so that other commands get their turn. */
export async function readStats(client: RedisClient, prefix: string, timeoutMs: number): Promise<StoreStats> {
  // For each command, as there are many where much is kept. What ioredis still queues only reads.
  const inTime = <Value>(answer: Promise<Value>): Promise<Value> => answered(answer, timeoutMs);
  // ioredis puts `keyPrefix` before the keys of commands, but not before the pattern of SCAN.
  const keyPrefix = client.options?.keyPrefix ?? '';
  const pattern = `${(keyPrefix + prefix).replace(/[\\*?[\]]/g, '\\$&')}*`;
  // SCAN may give a key twice.
  const seen = new Set<string>();
  const times: number[] = [];
  for (const node of client.nodes?.('master') ?? [client as RedisClient & RedisNode]) {
    let cursor = '0';
    do {
      const [next, found] = await inTime(node.scan(cursor, 'MATCH', pattern, 'COUNT', '500'));
      cursor = next;
      const fresh = found.filter((key) => !seen.has(key) && seen.add(key));
      const values = await inTime(Promise.all(fresh.map((key) => client.get(key.slice(keyPrefix.length)))));
      for (const value of values) {
        const at = /^done .* (\d+)$/.exec(value ?? '')?.[1];
        if (at) times.push(Number(at));
      }
    } while (cursor !== '0');
  }
  times.sort((a, b) => a - b);
  const date = (at: number | undefined): Date | undefined => (at === undefined ? undefined : new Date(at));
  const byDay: Record<string, number> = {};
  for (const at of times) {
    const day = new Date(at).toISOString().slice(0, 10);
    byDay[day] = (byDay[day] ?? 0) + 1;
  }
  return { count: times.length, oldest: date(times[0]), newest: date(times.at(-1)), byDay };
}
