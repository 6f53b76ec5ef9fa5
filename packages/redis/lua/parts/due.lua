-- Moves keys that fell due from `delayed` and `backoff` to `ready`: at least `wanted` of the first of
-- each, so that the first in the order of claims are there. The members are changed at once; that needs
-- no decision, and the keys mean the same as before.
local function fallDue(setKey, wanted)
  local members = call('ZRANGEBYSCORE', setKey, '-inf', now, 'LIMIT', 0, wanted)
  if #members == 0 then return false end
  local names = {}
  for index, member in ipairs(members) do names[index] = string.sub(member, delayedHead + 1) end
  local stored = readAll('HMGET', rowsKey, names)
  local readyMembers, rows, others = {}, {}, 0
  local readyMark = string.char(READY)
  for index, key in ipairs(names) do
    local row = stored[index]
    local state = decode(key, row)
    if state.place ~= DELAYED and state.place ~= BACKOFF then damaged(key) end
    readyMembers[index * 2 - 1] = -state.priority
    readyMembers[index * 2] = readyMember(key, state.ready, state.seq)
    rows[index * 2 - 1] = key
    rows[index * 2] = readyMark .. string.sub(row, 2)
    if state.priority ~= 0 then others = others + 1 end
  end
  inSlices('ZREM', setKey, members, 1000)
  inSlices('ZADD', readyKey, readyMembers, 2000)
  inSlices('HSET', rowsKey, rows, 2000)
  if others > 0 then otherPriorities = call('HINCRBY', metaKey, 'priorities', -others) end
  return #members == wanted
end

-- Whether a key that is due may still be missing in `ready` which comes before those that are there.
local function moveDue(wanted)
  local moreDelayed = fallDue(delayedKey, wanted)
  local moreBackoff = fallDue(backoffKey, wanted)
  return (moreDelayed or moreBackoff) and tonumber(otherPriorities or 0) > 0
end
