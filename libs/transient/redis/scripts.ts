import { LAST_EVENTS } from '../keys.js';
import { Script } from './script.js';

/** Milliseconds by the clock of Redis, so that instances need not agree on the time. */
const NOW = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
`;

/** KEYS claim; ARGV execution, hash, TTL in seconds. Nothing when won, else the holder's text and the time. */
export const claim = new Script(`${NOW}
local held = redis.call('GET', KEYS[1])
if held and cjson.decode(held).execution_id ~= ARGV[1] then return {held, now} end
if not held then
  local value = {execution_id = ARGV[1], request_hash = ARGV[2], state = 'reserved', claimed_at = now}
  redis.call('SET', KEYS[1], cjson.encode(value), 'EX', ARGV[3])
end
return false
`);

/** KEYS claim; ARGV execution. 1 when it holds the claim, which now says so. */
export const markStarted = new Script(`
local held = redis.call('GET', KEYS[1])
if not held then return 0 end
local value = cjson.decode(held)
if value.execution_id ~= ARGV[1] then return 0 end
value.state = 'started'
redis.call('SET', KEYS[1], cjson.encode(value), 'KEEPTTL')
return 1
`);

/** KEYS claim; ARGV former execution, execution, hash, TTL in seconds. */
export const takeOver = new Script(`${NOW}
local held = redis.call('GET', KEYS[1])
if not held or cjson.decode(held).execution_id ~= ARGV[1] then return 0 end
local value = {execution_id = ARGV[2], request_hash = ARGV[3], state = 'reserved', claimed_at = now}
redis.call('SET', KEYS[1], cjson.encode(value), 'EX', ARGV[4])
return 1
`);

/** KEYS claim; ARGV execution. */
export const release = new Script(`
local held = redis.call('GET', KEYS[1])
if held and cjson.decode(held).execution_id == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`);

/** KEYS rows, meta; ARGV TTL in seconds, bytes of the first chunk if there are any. The field \`begun\` stands until the result is published. */
export const beginResult = new Script(`
-- Behind a write that it takes, a full Redis takes any: the one it refuses comes first.
redis.call('HSET', KEYS[1], 'begun', '')
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('HSET', KEYS[1], 'begun', '')
if ARGV[2] then redis.call('HSET', KEYS[1], 0, ARGV[2]) end
redis.call('EXPIRE', KEYS[1], ARGV[1])
`);

/** KEYS rows; ARGV chunk number, bytes. */
export const putChunk = new Script(`
if redis.call('HEXISTS', KEYS[1], 'begun') == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
`);

/** What was published, read again: expiry in ms, number of chunks, the meta's text. */
const STORED_AGAIN = `
redis.call('SET', KEYS[2], ARGV[1] .. ',"expires_at":' .. string.format('%.0f', expires) .. '}', 'PXAT', string.format('%.0f', expires))
return {expires, redis.call('HLEN', KEYS[1]), redis.call('GET', KEYS[2])}
`;

/** KEYS rows, meta; ARGV meta text without its closing brace, TTL in seconds, number of chunks. See STORED_AGAIN. */
export const publishResult = new Script(`${NOW}
if redis.call('HEXISTS', KEYS[1], 'begun') == 0 then return 0 end
if redis.call('HLEN', KEYS[1]) ~= ARGV[3] + 1 then return 0 end
local expires = now + ARGV[2] * 1000
redis.call('HDEL', KEYS[1], 'begun')
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', expires))
${STORED_AGAIN}`);

/** KEYS rows, meta; ARGV meta text without its closing brace, TTL in seconds, the bytes of the one chunk if there is one. See STORED_AGAIN. */
export const storeResult = new Script(`${NOW}
-- As in the beginning of a result: a full Redis refuses the first write.
redis.call('HSET', KEYS[1], 'begun', '')
redis.call('DEL', KEYS[1], KEYS[2])
local expires = now + ARGV[2] * 1000
if ARGV[3] then
  redis.call('HSET', KEYS[1], 0, ARGV[3])
  redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', expires))
end
${STORED_AGAIN}`);

/** KEYS rows. */
export const countChunks = new Script(`
return redis.call('HLEN', KEYS[1]) - redis.call('HEXISTS', KEYS[1], 'begun')
`);

/**
 * KEYS a stream for each log; ARGV channel, TTL of a sealed log, then for each log: execution, TTL in seconds, whether
 * it is sealed (1), number of its events, and id, type, time, payload of each.
 */
export const appendEvents = new Script(`
local lasts = {${LAST_EVENTS.map((name) => `['${name}'] = true`).join(', ')}}
local at = 3
for log = 1, #KEYS do
  local key, execution, ttl, sealed, count = KEYS[log], ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3])
  at = at + 4
  local last = 0
  local newest = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
  if newest then
    if lasts[newest[2][2]] then last = math.huge end
    last = math.max(last, tonumber(string.match(newest[1], '^%d+')))
  end
  for _ = 1, count do
    if tonumber(ARGV[at]) > last then
      redis.call('XADD', key, ARGV[at] .. '-0', 'e', ARGV[at + 1], 't', ARGV[at + 2], 'd', ARGV[at + 3])
      last = tonumber(ARGV[at])
    end
    at = at + 4
  end
  redis.call('EXPIRE', key, ttl, 'NX')
  if sealed == '1' then redis.call('EXPIRE', key, ARGV[2]) end
  if count > 0 then redis.call('PUBLISH', ARGV[1], execution) end
end
`);

/** KEYS flag; ARGV reason, TTL in seconds, channel, execution. */
export const requestCancel = new Script(`
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2], 'NX')
redis.call('PUBLISH', ARGV[3], ARGV[4])
`);

/** KEYS leases; ARGV lease, limit, length in seconds. */
export const acquire = new Script(`${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3] * 1000, ARGV[1])
redis.call('EXPIRE', KEYS[1], 2 * ARGV[3])
return 1
`);

/** KEYS leases; ARGV length in seconds, then the leases. */
export const renew = new Script(`${NOW}
for at = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1] * 1000, ARGV[at]) end
redis.call('EXPIRE', KEYS[1], 2 * ARGV[1])
`);

/**
 * ARGV key prefix and length in seconds of each window. The time in seconds, then each count. The keys end with the
 * window's number and are known only here, where the clock is.
 */
export const hit = new Script(`
local now = tonumber(redis.call('TIME')[1])
local answer = {now}
for at = 1, #ARGV, 2 do
  local length = tonumber(ARGV[at + 1])
  local key = ARGV[at] .. math.floor(now / length)
  local count = redis.call('INCR', key)
  if count == 1 then redis.call('EXPIRE', key, 2 * length) end
  answer[#answer + 1] = count
end
return answer
`);

/** KEYS ghost; ARGV limit, length of a lock and of an unlocked count in seconds. Nil while locked, else count and the end of the lock in microseconds. */
export const countGhostFailure = new Script(`
local held = redis.call('GET', KEYS[1])
if held and string.sub(held, 1, 1) == 'L' then return false end
local count = redis.call('INCR', KEYS[1])
if count < tonumber(ARGV[1]) then
  redis.call('EXPIRE', KEYS[1], ARGV[3])
  return {count, ''}
end
local time = redis.call('TIME')
local ends = string.format('%d%06d', tonumber(time[1]) + tonumber(ARGV[2]), tonumber(time[2]))
redis.call('SET', KEYS[1], 'L' .. ends, 'EX', ARGV[2])
return {count, ends}
`);

/** KEYS instances; ARGV instance, what it says of itself, seconds it is remembered. */
export const beatInstance = new Script(`${NOW}
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode({at = now, keep = ARGV[3] * 1000, state = ARGV[2]}))
redis.call('EXPIRE', KEYS[1], ARGV[3])
`);

/** KEYS instances. Id, state and age in milliseconds of each that is remembered; the others are dropped. */
export const instances = new Script(`${NOW}
local told = redis.call('HGETALL', KEYS[1])
local answer = {}
for at = 1, #told, 2 do
  local beat = cjson.decode(told[at + 1])
  if now - beat.at > beat.keep then redis.call('HDEL', KEYS[1], told[at])
  else answer[#answer + 1] = {told[at], beat.state, tostring(now - beat.at)} end
end
return answer
`);
