#!lua
-- Stores the buckets that the store does not have. Arguments: name and text of each. Reply: for each 1
-- if it was stored.
-- @include begin
local replies = {}
for index = 1, numberArgument() do
  local name = argument()
  replies[index] = call('HSETNX', bucketsKey, name, argument())
end
return answer(unpack(replies))
