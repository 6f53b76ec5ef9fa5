#!lua flags=no-writes
-- Counts keys by state. Argument: cap. Reply: whether the queue is paused, when the key that has been
-- ready longest became so, when the last lease ends, and the counts of ready, delayed, backoff, processing, dirty, parked, idle.
-- @include begin
-- @include rows
-- @include counting
checkDescription()
if not version then return answer(0, 'inf', 'inf', 0, 0, 0, 0, 0, 0, 0) end
local function answerWith(oldest, ...)
  -- The last member of the set is not a key.
  local lastLease = call('ZRANGE', heldKey, -2, -2, 'WITHSCORES')[2]
  local heldUntil = lastLease and math.max(tonumber(lastLease), graceUntil) or inf
  return answer(isPaused and 1 or 0, reply(oldest), reply(heldUntil), ...)
end
return answerWith(countStates())
