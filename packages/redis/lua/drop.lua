#!lua flags=allow-oom
-- Deletes the keys that are not held and exactly as they were listed: `isUnchanged` in
-- packages/core/src/driver/transfer-row.ts. Arguments: the rows. Reply: for each row 0 (dropped),
-- 1 (changed) or 2 (missing).
-- @include begin
-- @include rows
-- @include writes
-- @include pending
-- @include transfer-rows
local names, moved = readTransferRows()

local function isUnchanged(key, state, row)
  if state.token ~= 0 then return false end
  if row.item ~= (state.hasItem and call('HGET', itemsKey, key) or '') then return false end
  if state.due ~= row.due or state.failures ~= row.failures or state.crashes ~= row.crashes
    or state.failed ~= row.failed or state.parked ~= row.parked then return false end
  if row.due == inf then return true end
  return state.why == row.why and state.later == row.later
    and (row.later == inf or state.laterWhy == row.laterWhy) and state.ready == row.ready
    and state.seq == row.seq and state.priority == row.priority and state.asked == row.asked
    and state.trace == row.trace
end

local replies = {}
for index, state in ipairs(readKeys(names)) do
  local key = names[index]
  if state.place == NONE then
    replies[index] = 2
  elseif not isUnchanged(key, state, moved[index]) then
    replies[index] = 1
  else
    cancel(state)
    forget(state)
    state.parked = false
    store(key, state)
    replies[index] = 0
  end
end
write()
return answer(unpack(replies))
