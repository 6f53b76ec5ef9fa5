#!lua
-- Adds keys.
--
-- Arguments: dedupe, failuresExpireMs, maxPending or '', the plans, the number of asks; for each ask
-- its key, its item or '', and '' for an ask of priority 0 without a delay, otherwise JSON:
-- [priority, delayMs, maxWaitMs or null, whether it failed, number of the plan or 0, jitter,
-- the trace contexts or null].
-- Reply: for each ask 0 (added, due now), 1 + dueAt (unchanged, without failures or plan), or
-- "outcome dueAt failures plannedMs".
-- @include begin
-- @include rows
-- @include writes
-- @include pending
-- @include adding
-- @include plans
local dedupe = argument()
local failuresExpireMs = numberArgument()
local maxPending = numberArgument()
local plans = readPlans()
local count = numberArgument()
local first = at
local names = {}
for index = 1, count do names[index] = ARGV[first + index * 3 - 2] end
local stored = readAll('HMGET', rowsKey, names)
local pendingKeys = maxPending and countPending()
local noOptions = { 0, 0, cjson.null, false, 0, 0, cjson.null }
local lastText, lastOptions = '', noOptions
local replies = {}

-- The row, member and lists of a new key that is due now need no decision.
local newRow, newReady, newKeys = pack('>BBB', READY, IS_PENDING + IS_FLAT, WHY_ADD), added[readyKey], added[keysKey]
local newRowWithItem = pack('>BBB', READY, IS_PENDING + IS_FLAT + HAS_ITEM, WHY_ADD)
local memberHead = now >= 0 and pack('>Bd', 1, now + 0)

-- Whether a key is certainly due, with one pending run, no failures, no item, and no lower priority.
local function isDueAlready(row)
  if string.byte(row, 2) ~= IS_PENDING + IS_FLAT then return false end
  local due, _, priority = unpackRow('>dI7h', row, 4)
  return due <= now and priority >= 0 and due >= 0 and due % 1 == 0
end

for index = 1, count do
  local key, item, text = ARGV[first + index * 3 - 2], ARGV[first + index * 3 - 1], ARGV[first + index * 3]
  local row = stored[index]
  local number = seq + index
  if not row and text == '' and not maxPending and memberHead then
    local numberText = pack('>I7', number)
    local size = #newReady
    newReady[size + 1] = 0
    newReady[size + 2] = memberHead .. numberText .. key
    newKeys[#newKeys + 1] = 0
    newKeys[#newKeys + 1] = key
    setRows[#setRows + 1] = key
    if item == '' then
      setRows[#setRows + 1] = newRow .. pack('>dI7h', now, number, 0)
    else
      setRows[#setRows + 1] = newRowWithItem .. pack('>dI7h', now, number, 0)
      setItems[#setItems + 1] = key
      setItems[#setItems + 1] = item
    end
    hasChanged = true
    soonest = now
    replies[index] = 0
  elseif row and text == '' and item == '' and isDueAlready(row) then
    replies[index] = 1 + unpackRow('>d', row, 4)
  else
    if text ~= lastText then
      lastText = text
      lastOptions = text == '' and noOptions or cjson.decode(text)
    end
    local priority, delayMs, maxWaitMs, hasFailed, planNumber, jitter, trace = unpack(lastOptions)
    local state = decode(key, row)
    local isStale = hasStaleFailures(state, failuresExpireMs)
    local failures = isStale and 0 or state.failures
    if pendingKeys and state.due == inf and pendingKeys >= maxPending then
      replies[index] = string.format('%d inf %.17g', FULL, failures)
    else
      local reservations = {}
      if planNumber ~= 0 then delayMs = delayOfPlan(plans[planNumber], failures, jitter, reservations) end
      local wasPending = state.due ~= inf
      if isStale then forget(state) end
      if hasFailed then countFailure(state) end
      if trace ~= cjson.null then state.trace = mergeTraces(state.trace, trace) end
      local outcome
      if not (delayMs > 0) then
        outcome = add(state, priority, dedupe, number)
      elseif maxWaitMs ~= cjson.null then
        outcome = addLatest(state, now + delayMs, maxWaitMs, priority, dedupe, number)
      else
        local why = hasFailed and WHY_BACKOFF or WHY_DELAY
        outcome = addAfter(state, now + delayMs, why, priority, dedupe, number)
      end
      state.item = item ~= '' and item
      if outcome ~= UNCHANGED then chargeBuckets(reservations) end
      if pendingKeys and not wasPending then pendingKeys = pendingKeys + 1 end
      store(key, state)
      if outcome == UNCHANGED and planNumber == 0 and state.failures == 0 and state.due >= 0 and state.due % 1 == 0 then
        replies[index] = 1 + state.due
      else
        replies[index] = string.format('%d %.17g %.17g %.17g', outcome, state.due, state.failures, delayMs)
      end
    end
  end
end
seq = seq + count
if not hasChanged then seq = firstSeq end
writeBuckets()
write()
return answer(unpack(replies))
