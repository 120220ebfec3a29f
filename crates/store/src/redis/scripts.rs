//! The scripts that make each change atomic on the server.
//!
//! A value is stored as 16 hexadecimal digits of its version, then its bytes. The sorted set
//! `index` holds all keys for listing; the sorted set `expiry` says when a key may be removed from
//! both, because an expired value does not leave the index by itself.

use std::sync::LazyLock;

use redis::Script;

/// Keys: value, index, expiry. Arguments: condition (`*`, empty or a version), version, bytes,
/// lifetime in ms (0: none), name of the key, prefix of values. Returns the version, or nil.
/// Repeating it after a lost answer changes nothing.
pub(super) static PUT: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
local found = redis.call('GET', KEYS[1])
local version = found and string.sub(found, 1, 16) or ''
if version == ARGV[2] then return ARGV[2] end
if ARGV[1] ~= '*' and ARGV[1] ~= version then return false end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[4] == '0' then
  redis.call('SET', KEYS[1], ARGV[2] .. ARGV[3])
  redis.call('ZREM', KEYS[3], ARGV[5])
else
  redis.call('SET', KEYS[1], ARGV[2] .. ARGV[3], 'PX', ARGV[4])
  redis.call('ZADD', KEYS[3], now + ARGV[4], ARGV[5])
end
redis.call('ZADD', KEYS[2], 0, ARGV[5])
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, 16)) do
  if redis.call('EXISTS', ARGV[6] .. name) == 0 then
    redis.call('ZREM', KEYS[2], name)
    redis.call('ZREM', KEYS[3], name)
  end
end
return ARGV[2]",
    )
});

/// Keys: value, index, expiry. Arguments: condition, name of the key. Returns the version that was
/// removed (16 zeros if there was none), or nil.
pub(super) static REMOVE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
local found = redis.call('GET', KEYS[1])
local version = found and string.sub(found, 1, 16) or ''
if ARGV[1] ~= '*' and ARGV[1] ~= version then return false end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('ZREM', KEYS[3], ARGV[2])
return found and version or '0000000000000000'",
    )
});

/// Keys: log. Arguments: mark of this append, bytes, events kept, lifetime in ms, channel. Returns
/// the event's number. An append that is repeated after a lost answer is recognised by its mark
/// among the last events.
pub(super) static APPEND: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
local last = 0
for at, entry in ipairs(redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 16)) do
  local number = tonumber(string.sub(entry[1], 3))
  if at == 1 then last = number end
  if entry[2][2] == ARGV[1] then return number end
end
redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[3], '0-' .. (last + 1), 'mark', ARGV[1], 'event', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PUBLISH', ARGV[5], last + 1)
return last + 1",
    )
});

/// Keys: counter. Arguments: by, lifetime in ms. Returns the count.
pub(super) static ADD: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
local fresh = redis.call('EXISTS', KEYS[1]) == 0
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
if fresh then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return count",
    )
});
