#!lua
-- Merges rows of another store into the stored keys: packages/core/src/transitions/merge-row.ts.
-- Arguments: 'import', or 'replay' for adds that this store has acknowledged before, then the rows. A
-- replayed item replaces the stored one if it is the later one. Reply: for each row 0 (imported), 1 (merged),
-- 2 (unchanged), or 3 for an add that this primary had received before it became the primary.
-- @include begin
-- @include rows
-- @include writes
-- @include pending
-- @include transfer-rows
local function pendingRunsOf(row)
  local runs = {}
  if row.due ~= inf then runs[1] = { at = row.due, why = row.why } end
  if row.due ~= inf and row.later ~= inf then runs[2] = { at = row.later, why = row.laterWhy } end
  return runs
end

local function mergedTrace(state, row)
  if row.asked < state.asked then return mergeTraces(row.trace, state.trace) end
  if row.asked > state.asked then return mergeTraces(state.trace, row.trace) end
  return state.trace or row.trace
end

-- Keeps the two earliest of all pending runs, at the better position and priority.
local function mergePending(state, row)
  if row.due == inf then return end
  local wasPending = state.due ~= inf
  local runs = pendingRunsOf(state)
  for _, run in ipairs(pendingRunsOf(row)) do
    -- A stable order: equal times stay as they are.
    local index = #runs + 1
    while index > 1 and runs[index - 1].at > run.at do index = index - 1 end
    table.insert(runs, index, run)
  end
  local first, second = runs[1], nil
  for _, run in ipairs(runs) do
    if not second and run.at > first.at and run.at > now then second = run end
  end
  if not wasPending or row.ready < state.ready then
    state.ready = row.ready
    state.seq = row.seq
  end
  state.trace = mergedTrace(state, row)
  state.due = first.at
  state.why = first.why
  state.later = second and second.at or inf
  state.laterWhy = second and second.why or state.laterWhy
  state.priority = wasPending and math.max(state.priority, row.priority) or row.priority
  state.asked = wasPending and math.min(state.asked, row.asked) or row.asked
  -- The next run of a held key has no position in the order yet.
  if state.token ~= 0 then state.ready = state.due end
end

local function lastOf(a, b)
  if a == inf then return b end
  if b == inf then return a end
  return math.max(a, b)
end

local transferMembers = { 'due', 'why', 'later', 'laterWhy', 'ready', 'seq', 'priority', 'asked', 'failures',
  'crashes', 'failed', 'parked', 'trace' }

local isReplay = argument() == 'replay'
-- A replica has a part of the history of its primary, from the beginning: what was numbered before the last
-- number that it received has arrived as well.
local arrived = {}
if isReplay then
  local numbers, ids = followedNumbers()
  for index, text in ipairs(numbers) do
    local number = tonumber(text)
    arrived[math.floor(number / termSize)] = { number = number, by = ids[index] }
  end
end
local function hasArrived(row)
  local last = row.lastSeq and arrived[math.floor(row.lastSeq / termSize)]
  return last and last.by == row.by and row.lastSeq <= last.number
end
local names, moved = readTransferRows()
local replies = {}
local greatestSeq = seq
for index, state in ipairs(readKeys(names)) do
  local row = moved[index]
  if hasArrived(row) then
    replies[index] = 3
  else
    -- A key is never ready later than it is due or than now, but the time of the other store may be later.
    row.ready = math.min(row.ready, math.max(row.due, now))
    local isNew = isGone(state)
    local isLater = row.seq > state.seq
    local before = {}
    for _, member in ipairs(transferMembers) do before[member] = state[member] end
    mergePending(state, row)
    state.failures = math.max(state.failures, row.failures)
    state.crashes = math.max(state.crashes, row.crashes)
    state.failed = lastOf(state.failed, row.failed)
    state.parked = state.parked or row.parked
    local outcome = 2
    if isNew then
      if not isGone(state) then outcome = 0 end
      if row.item ~= '' then state.item = row.item end
    else
      for _, member in ipairs(transferMembers) do
        if before[member] ~= state[member] then outcome = 1 end
      end
    end
    if isReplay and not isNew and isLater then state.item = row.item ~= '' and row.item end
    if row.error ~= '' and not state.hasError then state.error = string.sub(row.error, 2) end
    if not isGone(state) then greatestSeq = math.max(greatestSeq, state.seq) end
    store(names[index], state)
    replies[index] = outcome
  end
end
seq = greatestSeq
-- What another primary has of this one is known by the last number alone, so that what is repeated has one.
if isReplay and hasChanged then seq = seq + 1 end
-- The numbers of another store may be in a later range: from here on this primary numbers in that one, or the
-- next primary would not begin above them.
if seq >= (term + 1) * termSize then
  term = math.floor(seq / termSize)
  setScope('term', term)
end
write()
return answer(unpack(replies))
