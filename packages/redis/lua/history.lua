#!lua flags=no-writes
-- What workers have recorded of a queue. Argument: steps or failed. Reply: names and texts of the fields.
-- @include begin
local key = argument() == 'steps' and KEYS[16] or KEYS[17]
return answer(unpack(call('HGETALL', key)))
