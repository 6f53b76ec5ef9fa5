#!lua flags=allow-oom
-- Extends leases. Arguments: leaseMs, the number of leases, then for each its key and token.
-- Reply: for each lease its end, or '' if it was lost.
-- @include begin
-- @include rows
-- @include writes
local leaseUntil = now + numberArgument()
local count = numberArgument()
local names, tokens = {}, {}
for index = 1, count do
  names[index] = argument()
  tokens[index] = numberArgument()
end
local replies = {}
for index, state in ipairs(readKeys(names)) do
  if state.token ~= tokens[index] or state.token == 0 then
    replies[index] = ''
  else
    if leaseUntil > state.lease then
      state.lease = leaseUntil
      store(names[index], state)
    end
    replies[index] = reply(state.lease)
  end
end
write()
return answer(unpack(replies))
