-- Parts that the transitions share: changing the pending run and the counters of a key. They are those
-- of packages/core/src/transitions/pending.ts, and the transition cases compare the two.
local failuresMax = 2147483647

-- Two pending runs that are both due are one run.
local function collapse(state)
  if state.later <= now and state.due <= now then state.later = inf end
end

local function setDue(state, due, why, number)
  state.due = due
  state.why = why
  state.ready = due
  state.seq = number
end

-- The trace contexts of two sequences of adds as one: packages/core/src/transitions/trace.ts.
local function mergeTraces(earlier, later)
  if not earlier or not later then return earlier or later end
  local first, last = string.sub(earlier, 1, 55), string.sub(later, -55)
  return first == last and first or first .. ' ' .. last
end

local function countFailure(state)
  if state.failures < failuresMax then state.failures = state.failures + 1 end
  state.failed = now
end

local function forget(state)
  if state.failures == 0 and state.crashes == 0 then return false end
  state.failures = 0
  state.crashes = 0
  state.failed = inf
  return true
end

local function cancel(state)
  if state.due == inf then return false end
  state.due = inf
  state.later = inf
  state.trace = nil
  return true
end

-- Whether only an expired failure count is left of the key, which counts as none.
local function hasStaleFailures(state, failuresExpireMs)
  return state.token == 0 and state.due == inf and not state.parked
    and state.failed + failuresExpireMs <= now
end

local function raisePriority(state, priority, number)
  if priority <= state.priority then return false end
  state.priority = priority
  state.seq = number
  if state.token == 0 and state.due <= now then state.ready = now end
  return true
end

local function setPending(state, due, why, priority, number)
  setDue(state, due, why, number)
  state.priority = priority
  state.asked = now
end

local function isGone(state)
  return state.token == 0 and state.due == inf and state.failures == 0 and state.crashes == 0
    and not state.parked
end
