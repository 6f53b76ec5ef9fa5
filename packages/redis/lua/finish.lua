#!lua flags=allow-oom
-- Gives back held keys.
--
-- Arguments: dedupe, the plans, the number of finishes; for each its key, its token, and how: d (done),
-- f (done, and failures forgotten), r (release), or JSON: ["t", delayMs, number of the plan or 0,
-- jitter, error or null, priority or null] for a retry, ["p", error or null] for park,
-- ["a", delayMs, priority, whether failures are forgotten] for done and added again.
-- Reply: for each finish 0 (idle, no failures), 4 (lost), or "outcome dueAt failures".
-- @include begin
-- @include rows
-- @include writes
-- @include pending
-- @include adding
-- @include given-back
-- @include plans
local dedupe = argument()
local plans = readPlans()
local count = numberArgument()
local first = at
local names = {}
for index = 1, count do names[index] = ARGV[first + index * 3 - 2] end
local stored = readAll('HMGET', rowsKey, names)

local function done(state, forgets, number)
  if forgets then forget(state) end
  state.crashes = 0
  collapse(state)
  return free(state, number)
end

-- The key is added again, and the run has ended.
local function addAgain(state, delayMs, why, priority, number)
  state.crashes = 0
  if delayMs > 0 then
    addAfter(state, now + delayMs, why, priority, dedupe, number)
  else
    add(state, priority, dedupe, number)
  end
  return free(state, number)
end

local function retry(state, delayMs, priority, number)
  countFailure(state)
  state.trace = mergeTraces(state.claimedTrace, state.trace)
  if priority == nil or priority == cjson.null then priority = state.claimedPriority end
  return addAgain(state, delayMs, WHY_BACKOFF, priority, number)
end

local function release(state, number)
  collapse(state)
  local due, why, priority = state.due, state.why, state.priority
  local priorityRose = due ~= inf and priority > state.claimedPriority
  if due ~= inf and due > now then
    -- Under 'earliest' one run, except for a second run that the claim had moved up, as it is now.
    local isSecond = dedupe == 'client-go' or state.claimedLater ~= inf
    state.later = isSecond and due or inf
    state.laterWhy = why
  end
  state.due = state.claimedDue
  state.why = state.claimedWhy
  state.asked = state.claimedAsked
  state.trace = mergeTraces(state.claimedTrace, state.trace)
  if priorityRose then
    state.ready = now
    state.seq = number
  else
    state.ready = state.claimedReady
    state.seq = state.claimedSeq
    state.priority = state.claimedPriority
  end
  state.token = 0
  state.lease = inf
  state.claimedTrace = nil
  return resting(state)
end

local function park(state, hasFailed, number)
  if hasFailed then countFailure(state) end
  state.crashes = 0
  state.parked = true
  return release(state, number)
end

local replies = {}
local leavesHeld, leavesKeys = removed[heldKey], removed[keysKey]
for index = 1, count do
  local key, tokenText, how = ARGV[first + index * 3 - 2], ARGV[first + index * 3 - 1], ARGV[first + index * 3]
  local token = tonumber(tokenText)
  local row = stored[index]
  local flags = row and string.byte(row, 2)
  local isBare = flags == IS_HELD or flags == IS_HELD + HAS_ITEM
  if isBare and (how == 'd' or how == 'f') and #row >= 4 + heldLength - 1 and unpackRow('>I7', row, 4) == token then
    -- Nothing remains of a key that was claimed, done, and not added again.
    deletedRows[#deletedRows + 1] = key
    if flags ~= IS_HELD then deletedItems[#deletedItems + 1] = key end
    leavesHeld[#leavesHeld + 1] = key
    leavesKeys[#leavesKeys + 1] = key
    hasChanged = true
    replies[index] = 0
  else
    local state = decode(key, row)
    if state.token ~= token or token == 0 then
      replies[index] = LOST
    else
      local number = seq + index
      local outcome
      local reservations = {}
      if how == 'd' or how == 'f' then
        outcome = done(state, how == 'f', number)
      elseif how == 'r' then
        outcome = release(state, number)
      else
        local options = cjson.decode(how)
        local message
        if options[1] == 't' then
          local delayMs = options[2]
          message = options[5]
          if options[3] ~= 0 then
            delayMs = delayOfPlan(plans[options[3]], state.failures, options[4], reservations)
          end
          outcome = retry(state, delayMs, options[6], number)
        elseif options[1] == 'a' then
          message = cjson.null
          if options[4] then forget(state) end
          outcome = addAgain(state, options[2], WHY_DELAY, options[3], number)
        else
          message = options[2]
          outcome = park(state, message ~= cjson.null, number)
        end
        state.error = message ~= cjson.null and message or nil
        chargeBuckets(reservations)
      end
      store(key, state)
      if outcome == IDLE_NOW and state.failures == 0 then
        replies[index] = 0
      else
        replies[index] = string.format('%d %.17g %.17g', outcome, state.due, state.failures)
      end
    end
  end
end
if hasChanged then seq = seq + count end
writeBuckets()
write()
return answer(unpack(replies))
