#!lua flags=allow-oom
-- The heartbeat of a waiting queue.
--
-- Arguments: holder, registration of the worker or '', limit, failuresExpireMs, workerMsMax, 1 if a record
-- follows, the record. Reply: nextAt, the expired leases, how many idle keys were deleted.
-- @include begin
-- @include history
local holder = argument()
local worker = argument()
local limit = numberArgument()
local failuresExpireMs = numberArgument()
local workerMsMax = numberArgument()
local hasRecord = argument() == '1'
checkDescription()
if not version and worker == '' then return answer('inf', {}, 0) end
local registered = worker ~= '' and call('HGET', workersKey, holder)

local function register()
  local started = registered and string.match(registered, '^(%S+) ') or string.format('%.17g', now)
  call('HSET', workersKey, holder, started .. ' ' .. string.format('%.17g', now) .. ' ' .. worker)
end

-- The usual case, a registered worker of a queue without a key, needs nothing of what follows.
if version and registered and (primary == '' or primary == lastPrimary) and ahead == storedAhead
  and call('HLEN', rowsKey) == 1 then
  if not isPaused and waitsUntil < inf then call('HSET', metaKey, 'waits', 'inf') end
  call('HSET', scopeKey, 'latest', now)
  register()
  if hasRecord then addRecord(function() return isPaused and '0 0 0 0 0 0 1' or '0 0 0 0 0 0 0' end) end
  return answer('inf', {}, 0)
end
-- @include rows
-- @include writes
-- @include leases
-- @include counting

local nextDue = inf
local firstLease = inf
local stale = {}
if version then
  for _, key in ipairs({ delayedKey, backoffKey }) do
    nextDue = math.min(nextDue, tonumber(call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]))
  end
  local firstReady = call('ZRANGE', readyKey, 0, 0)[1]
  if firstReady ~= '' then
    local key = string.sub(firstReady, readyHead + 1)
    nextDue = math.min(nextDue, decode(key, call('HGET', rowsKey, key)).ready)
  end
  if isPaused then nextDue = inf end
  firstLease = math.max(tonumber(call('ZRANGE', heldKey, 0, 0, 'WITHSCORES')[2]), graceUntil)
  stale = call('ZRANGEBYSCORE', idleKey, '-inf', now - failuresExpireMs, 'LIMIT', 0, limit)
end
local nextAt = math.min(nextDue, firstLease)
local leases = firstLease <= now and expiredLeases(limit) or {}

for index, state in ipairs(readKeys(stale)) do
  state.failures = 0
  state.crashes = 0
  store(stale[index], state)
end
local gone = {}
-- A new worker deletes the registrations that are too old. Many that start together would each read those of all.
local lastSweep = worker ~= '' and not registered and (tonumber(call('HGET', workersKey, '')) or -inf)
local isSweep = lastSweep and now - lastSweep >= 60000
if isSweep then
  local all = call('HGETALL', workersKey)
  for index = 1, #all, 2 do
    local seen = string.match(all[index + 1], '^%S+ (%S+) ')
    if seen and tonumber(seen) < now - workerMsMax then gone[#gone + 1] = all[index] end
  end
end
if worker ~= '' then hasChanged = true end
if not isPaused and nextAt > now and waitsUntil < nextAt then setMeta('waits', nextAt) end
write()
if worker ~= '' then
  register()
  writeAll('HDEL', workersKey, gone, 1000)
  if isSweep then call('HSET', workersKey, '', string.format('%.17g', now)) end
end
if hasRecord then
  addRecord(function()
    local oldest, ready, delayed, backoff, processing, dirty, parked, idle = countStates()
    local function capped(count) return math.min(count, historyDepthMax) end
    local isCapped = math.max(ready, delayed, backoff, processing, dirty, parked, idle) > historyDepthMax
    return string.format('%d %d %d %d %.17g %d %d', capped(ready), capped(delayed) + capped(backoff),
      capped(processing) + capped(dirty), capped(parked), oldest == inf and 0 or math.max(0, now - oldest),
      isCapped and 1 or 0, isPaused and 1 or 0)
  end)
end
return answer(reply(nextAt), leases, #stale)
