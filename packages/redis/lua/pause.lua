#!lua flags=allow-oom
-- Pauses or resumes a queue, and wakes the processes that wait. Argument: 1 or 0. Reply: 1 if changed.
-- @include begin
-- @include rows
-- @include writes
local wanted = argument()
if wanted == (isPaused and '1' or '0') then
  -- Whether it is paused is not known.
  checkDescription()
  return answer(0)
end
setMeta('paused', wanted)
write()
wake()
return answer(1)
