-- How many keys there are by state, and since when the one that has been ready longest is ready.
local function countStates()
  local function size(key)
    -- Without the member that is not a key, the set was deleted, also if it has keys again.
    if not call('ZSCORE', key, '') then error('a set is missing') end
    return call('ZCARD', key) - 1
  end
  local dueDelayed = call('ZCOUNT', delayedKey, '-inf', now)
  local dueBackoff = call('ZCOUNT', backoffKey, '-inf', now)
  local dirty = call('ZCOUNT', dirtyKey, '-inf', now)
  local oldest = inf
  for _, key in ipairs({ delayedKey, backoffKey }) do
    local first = call('ZRANGE', key, 0, 0, 'WITHSCORES')
    local due = tonumber(first[2])
    if due <= now then oldest = math.min(oldest, due) end
  end
  -- The first key of each priority that is in use.
  local score = '-inf'
  while true do
    local first = call('ZRANGEBYSCORE', readyKey, score, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    if not first[1] or first[1] == '' then break end
    local key = string.sub(first[1], readyHead + 1)
    oldest = math.min(oldest, decode(key, call('HGET', rowsKey, key)).ready)
    score = '(' .. first[2]
  end
  return oldest, size(readyKey) + dueDelayed + dueBackoff, size(delayedKey) - dueDelayed,
    size(backoffKey) - dueBackoff, size(heldKey) - dirty, dirty, size(parkedKey), size(idleKey)
end
