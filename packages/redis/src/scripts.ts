import { createHash } from 'node:crypto';

/** A Lua script and the name under which a server that has seen it keeps it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/*
 * One key per id, so that every script is at home in one slot of a cluster. Its value is `state fence token at`:
 *
 *   lease  held by `token` until `at`
 *   free   given back; kept for its fence, and so that a late copy of the same claim is not granted
 *   done   marked by `token` at `at`
 *
 * `at` is in milliseconds of the server's own clock. The key lives for the retention whatever its state: were a lease
 * the key's life, then `fence` would start again with each.
 */
const READ = `
local value = redis.call('GET', KEYS[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local state, fence, token, at = 'none', '0', '', '0'
if value then
  state, fence, token, at = string.match(value, '^(%l+) (%d+) (%S+) (%d+)$')
  if not state then return redis.error_reply('FOREIGN the key holds something else') end
end
local function put(newState, newFence, newToken, newAt, ...)
  redis.call('SET', KEYS[1], string.format('%s %.0f %s %.0f', newState, newFence, newToken, newAt), ...)
end
`;

/** token, leaseMs, retentionMs → 'done' | 'busy', ms | 'mine', fence | 'ended' */
export const claimScript: Script = script(`
if state == 'done' then return {'done'} end
if token == ARGV[1] and state ~= 'lease' then return {'ended'} end
if token ~= ARGV[1] then
  if state == 'lease' and tonumber(at) > now then return {'busy', string.format('%.0f', at - now)} end
  -- The clock keeps the fence growing when the key itself is lost, by eviction or a failover.
  fence = math.max(fence + 1, now)
end
put('lease', fence, ARGV[1], now + ARGV[2], 'PX', ARGV[3])
return {'mine', string.format('%.0f', fence)}
`);

/** token, fence, retentionMs → 1 | 0. A key that the server has lost belongs to nobody else, so the mark is made. */
export const doneScript: Script = script(`
if state == 'done' then return token == ARGV[1] and 1 or 0 end
if value and (state ~= 'lease' or token ~= ARGV[1]) then return 0 end
put('done', ARGV[2], ARGV[1], now, 'PX', ARGV[3])
return 1
`);

/** token, fence, retentionMs, leaseMs → 1 | 0 */
export const extendScript: Script = script(`
if value and (state ~= 'lease' or token ~= ARGV[1]) then return 0 end
put('lease', ARGV[2], ARGV[1], now + ARGV[4], 'PX', ARGV[3])
return 1
`);

/** token → 1 | 0 */
export const releaseScript: Script = script(`
if state ~= 'lease' or token ~= ARGV[1] then return 0 end
put('free', fence, token, now, 'KEEPTTL')
return 1
`);

/** → 1 | 0. The fence stays, and so that a run that is under way cannot mark the id done, its token goes. */
export const forgetScript: Script = script(`
if state ~= 'lease' and state ~= 'done' then return 0 end
put('free', fence, '-', now, 'KEEPTTL')
return 1
`);

function script(body: string): Script {
  const text = READ + body;
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}
