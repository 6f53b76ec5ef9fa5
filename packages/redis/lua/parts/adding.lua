-- What an add does to a key: packages/core/src/transitions/add.ts.
local ADDED, MOVED, UNCHANGED, STAYS_PARKED, FULL = 0, 1, 2, 3, 4

local function orParked(state, outcome)
  if state.parked and state.token == 0 then return STAYS_PARKED end
  return outcome
end

local function add(state, priority, dedupe, number)
  local outcome
  if state.due == inf then
    setPending(state, now, WHY_ADD, priority, number)
    outcome = ADDED
  elseif state.due <= now then
    if state.later <= now then state.later = inf end
    outcome = raisePriority(state, priority, number) and MOVED or UNCHANGED
  else
    outcome = MOVED
    if dedupe == 'client-go' then
      if state.later == inf then outcome = ADDED end
      state.later = state.due
      state.laterWhy = state.why
    end
    setDue(state, now, WHY_ADD, number)
    if priority > state.priority then state.priority = priority end
  end
  return orParked(state, outcome)
end

local function addAfter(state, due, why, priority, dedupe, number)
  local outcome = UNCHANGED
  if state.due == inf then
    setPending(state, due, why, priority, number)
    outcome = ADDED
  else
    collapse(state)
    if raisePriority(state, priority, number) then outcome = MOVED end
    if state.due > now then
      if due < state.due then
        setDue(state, due, why, number)
        outcome = MOVED
      end
    elseif dedupe == 'client-go' and due < state.later then
      outcome = state.later == inf and ADDED or MOVED
      state.later = due
      state.laterWhy = why
    end
  end
  return orParked(state, outcome)
end

local function addLatest(state, due, maxWaitMs, priority, dedupe, number)
  local isOnlyDelayed = state.due ~= inf and state.due > now and state.why == WHY_DELAY
    and state.later == inf
  if not isOnlyDelayed then return addAfter(state, due, WHY_DELAY, priority, dedupe, number) end
  local outcome = raisePriority(state, priority, number) and MOVED or UNCHANGED
  local bounded = math.min(due, state.asked + maxWaitMs)
  if bounded > state.due then
    setDue(state, bounded, WHY_DELAY, number)
    outcome = MOVED
  end
  return orParked(state, outcome)
end
