#!lua flags=no-writes
-- Counts keys by state. Argument: cap. Reply: whether the queue is paused, when the key that has been
-- ready longest became so, and the counts of ready, delayed, backoff, processing, dirty, parked, idle.
-- @include begin
-- @include rows
if not version then return answer(0, 'inf', 0, 0, 0, 0, 0, 0, 0) end
local function size(key)
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
  local state = decode('', call('HGET', rowsKey, string.sub(first[1], readyHead + 1)))
  oldest = math.min(oldest, state.ready)
  score = '(' .. first[2]
end
return answer(isPaused and 1 or 0, reply(oldest), size(readyKey) + dueDelayed + dueBackoff,
  size(delayedKey) - dueDelayed, size(backoffKey) - dueBackoff, size(heldKey) - dirty, dirty,
  size(parkedKey), size(idleKey))
