#!lua flags=allow-oom
-- The verbs that change keys and need nothing but their names: cancel, forget, park, unpark, unpark
-- with forget, runNow and remove; packages/core/src/transitions/operate.ts.
--
-- Arguments: the verb, the number of keys, the keys, for remove the last position: a key that is behind it
-- stays as it is. Reply: for each key 0 (unchanged), 1 (changed) or
-- 2 (missing).
-- @include begin
-- @include rows
-- @include writes
-- @include pending
local verb = argument()
local count = numberArgument()
local names = {}
for index = 1, count do names[index] = argument() end
local last = tonumber(argument() or 'inf')

local function unpark(state, number, forgets)
  if not state.parked then return false end
  state.parked = false
  if forgets then forget(state) end
  if state.token == 0 and state.due <= now then
    state.ready = now
    state.seq = number
  end
  return true
end

local function remove(state)
  if state.seq > last then return false end
  local hadPending = cancel(state)
  local hadFailures = forget(state)
  local wasParked = state.parked
  state.parked = false
  return hadPending or hadFailures or wasParked
end

local function change(state, number)
  if verb == 'cancel' then return cancel(state) end
  if verb == 'forget' then return forget(state) end
  if verb == 'remove' then return remove(state) end
  if verb == 'unpark' then return unpark(state, number, false) end
  if verb == 'unpark-forget' then return unpark(state, number, true) end
  if verb == 'park' then
    local isNew = not state.parked
    state.parked = true
    return isNew
  end
  if state.due == inf or state.due <= now then return false end
  setDue(state, now, WHY_ADD, number)
  return true
end

local replies = {}
for index, state in ipairs(readKeys(names)) do
  if isGone(state) and verb ~= 'cancel' and verb ~= 'forget' then
    replies[index] = 2
  else
    replies[index] = change(state, seq + index) and 1 or 0
    store(names[index], state)
  end
end
if hasChanged then seq = seq + count end
write()
return answer(unpack(replies))
