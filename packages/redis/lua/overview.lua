#!lua flags=no-writes
-- The workers of a queue, and whether the queue has anything on record. Argument: withinMs. Reply: 1 if
-- it has keys, is paused, or has a worker; how many leases expired more than a minute ago; a list with
-- "startedAt seenAt info" of each worker.
-- @include begin
local withinMs = numberArgument()
local workers = {}
local all = call('HGETALL', workersKey)
for index = 1, #all, 2 do
  local seen = string.match(all[index + 1], '^%S+ (%S+) ')
  if seen and tonumber(seen) >= now - withinMs then workers[#workers + 1] = all[index + 1] end
end
local isThere = #workers > 0 or isPaused or call('HLEN', rowsKey) > 1
local late = call('ZCOUNT', heldKey, '-inf', now - 60000)
-- A list: Lua passes no more than 8,000 values, and a fleet that restarts often has more workers in a day.
return answer(isThere and 1 or 0, late, workers)
