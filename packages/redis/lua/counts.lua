#!lua flags=no-writes
-- Counts keys by state. Argument: cap. Reply: whether the queue is paused, when the key that has been
-- ready longest became so, and the counts of ready, delayed, backoff, processing, dirty, parked, idle.
-- @include begin
-- @include rows
-- @include counting
if not version then return answer(0, 'inf', 0, 0, 0, 0, 0, 0, 0) end
local function answerWith(oldest, ...)
  return answer(isPaused and 1 or 0, reply(oldest), ...)
end
return answerWith(countStates())
