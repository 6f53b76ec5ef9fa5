#!lua flags=allow-oom
-- Gives back keys whose leases have expired.
--
-- Arguments: dedupe, the plans, jitter, maxCrashes, "=" and the error to store or '', the number of leases, then for each its key and
-- token. Reply: for each lease 0 (expired), 1 (parked) or 2 (lost).
-- @include begin
-- @include rows
-- @include writes
-- @include pending
-- @include given-back
-- @include plans
local dedupe = argument()
local plan = readPlans()[1]
local jitter = numberArgument()
local maxCrashes = numberArgument()
local message = argument()
local count = numberArgument()
local names, tokens = {}, {}
for index = 1, count do
  names[index] = argument()
  tokens[index] = numberArgument()
end

local function expire(state, delayMs, number)
  collapse(state)
  countFailure(state)
  if state.crashes < failuresMax then state.crashes = state.crashes + 1 end
  state.trace = mergeTraces(state.claimedTrace, state.trace)
  local lostAt = state.lease + delayMs
  if state.due == inf then
    setDue(state, lostAt, WHY_BACKOFF, number)
    state.priority = state.claimedPriority
    state.asked = state.claimedAsked
  else
    if state.claimedPriority > state.priority then state.priority = state.claimedPriority end
    if state.due > now then
      local due, why = state.due, state.why
      local later = math.max(due, lostAt)
      -- A held key has a second run if it was imported with one: it never moves later.
      if dedupe == 'client-go' and later < state.later then
        state.later = later
        state.laterWhy = lostAt > due and WHY_BACKOFF or why
      end
      if lostAt < due then setDue(state, lostAt, WHY_BACKOFF, number) end
    end
  end
  if state.crashes >= maxCrashes then state.parked = true end
  return free(state, number) == PARKED_NOW and 1 or 0
end

local replies = {}
for index, state in ipairs(readKeys(names)) do
  if state.token ~= tokens[index] or state.token == 0 or state.lease > now or now < graceUntil then
    replies[index] = 2
  else
    local delayMs = plan and planDelay(plan, state.failures, {}, jitter) or 0
    replies[index] = expire(state, delayMs, seq + index)
    if message ~= '' then state.error = string.sub(message, 2) end
    store(names[index], state)
  end
end
if hasChanged then seq = seq + count end
write()
return answer(unpack(replies))
