-- Collects what a verb changes, and writes it at the end: by then nothing can fail.
local setRows, deletedRows, setItems, deletedItems, setErrors, deletedErrors = {}, {}, {}, {}, {}, {}
local metaChanges, scopeChanges = {}, {}
-- The members that enter and leave each sorted set: a list is there once it is asked for.
local function newList(lists, key)
  lists[key] = {}
  return lists[key]
end
local added, removed = setmetatable({}, { __index = newList }), setmetatable({}, { __index = newList })
local parkedPendingMore, otherPrioritiesMore = 0, 0
-- When the first key that this script made claimable is due.
local soonest = inf
local hasChanged = false

-- Another server is the primary now, which may not have received the last writes of the one before: it
-- goes on above every token and position that was handed out there, and for a while no lease counts as
-- expired.
local isNewPrimary = primary ~= '' and lastPrimary ~= primary
if isNewPrimary and lastPrimary then
  term = term + 1
  seq = math.max(seq, term * termSize)
  local time = call('TIME')
  lastToken = math.max(lastToken, time[1] * 1000000 + time[2]) + 3600000000
  if givenNow == '' then graceUntil = now + 30000 end
end
local firstSeq = seq

local function addMember(key, score, member)
  local list = added[key]
  local count = #list
  list[count + 1] = score
  list[count + 2] = member
end

local function removeMember(key, member)
  local list = removed[key]
  list[#list + 1] = member
end

local function hasOtherPriority(place, priority)
  return (place == DELAYED or place == BACKOFF) and priority ~= 0 and 1 or 0
end

-- Stores a key as the transitions have left it. `state.item` and `state.error` are set if they change:
-- to a text, or to false.
local function store(key, state)
  local from = state.place
  local to = placeOf(state)
  if to == NONE then
    if from == NONE then return end
    hasChanged = true
    deletedRows[#deletedRows + 1] = key
    if state.hasItem then deletedItems[#deletedItems + 1] = key end
    if state.hasError then deletedErrors[#deletedErrors + 1] = key end
  else
    if state.item then
      state.hasItem = true
      setItems[#setItems + 1] = key
      setItems[#setItems + 1] = state.item
      hasChanged = true
    elseif state.item == false and state.hasItem then
      state.hasItem = false
      deletedItems[#deletedItems + 1] = key
    end
    if state.error then
      state.hasError = true
      setErrors[#setErrors + 1] = key
      setErrors[#setErrors + 1] = state.error
      hasChanged = true
    end
    local row = encode(state, to)
    if row == state.row then return end
    hasChanged = true
    setRows[#setRows + 1] = key
    setRows[#setRows + 1] = row
  end

  local oldMember = from ~= NONE and memberOf(from, key, state.oldReady, state.oldSeq)
  local member = to ~= NONE and memberOf(to, key, state.ready, state.seq)
  if oldMember and (from ~= to or oldMember ~= member) then removeMember(setOfPlace[from], oldMember) end
  if member then addMember(setOfPlace[to], scoreOf(to, state), member) end
  if from == NONE then addMember(keysKey, 0, key) elseif to == NONE then removeMember(keysKey, key) end
  if to == HELD and state.due ~= inf then
    addMember(dirtyKey, state.due, key)
  elseif from == HELD and state.oldDue ~= inf then
    removeMember(dirtyKey, key)
  end
  if from == PARKED and state.oldDue ~= inf then parkedPendingMore = parkedPendingMore - 1 end
  if to == PARKED and state.due ~= inf then parkedPendingMore = parkedPendingMore + 1 end
  otherPrioritiesMore = otherPrioritiesMore + hasOtherPriority(to, state.priority)
    - hasOtherPriority(from, state.oldPriority)
  if to == READY then
    soonest = now
  elseif (to == DELAYED or to == BACKOFF) and state.due < soonest then
    soonest = state.due
  end
end

-- How many keys have a pending run.
local function countPending()
  return call('ZCARD', readyKey) + call('ZCARD', delayedKey) + call('ZCARD', backoffKey)
    + call('ZCARD', dirtyKey) - (version and 4 or 0) + tonumber(parkedPending or 0)
end

-- How many primaries before this one are remembered.
local followedMax = 16

-- The last number of each primary before this one that has arrived here, the latest primary first, and the id of
-- the primary that drew it: two primaries that did not follow each other number in one range.
local function followedNumbers()
  local last, earlier, by, numberedBy =
    unpack(call('HMGET', metaKey, 'followed', 'followedEarlier', 'followedBy', 'numberedBy'))
  local numbers, ids = {}, {}
  if storedSeq < term * termSize then
    numbers[1] = string.format('%.17g', storedSeq)
    ids[1] = numberedBy and numberedBy ~= '' and numberedBy or '-'
  end
  for text in string.gmatch((last or '') .. ' ' .. (earlier or ''), '%S+') do
    if #numbers < followedMax then numbers[#numbers + 1] = text end
  end
  for id in string.gmatch(by or '', '%S+') do
    if #ids < followedMax then ids[#ids + 1] = id end
  end
  return numbers, ids
end

-- An absent key stops every script that names it while the slot is moved; so none is ever absent.
local function createKeys()
  generation = processId .. '-' .. string.format('%.17g', now)
  call('HSET', metaKey, 'version', 1, 'generation', generation, 'seq', seq, 'numberedBy', primary)
  for _, key in ipairs({ rowsKey, itemsKey, errorsKey, workersKey }) do call('HSET', key, '', '') end
  for _, key in ipairs({ keysKey, readyKey, delayedKey, backoffKey, heldKey, dirtyKey, parkedKey, idleKey }) do
    call('ZADD', key, 'inf', '')
  end
  call('ZADD', keysKey, 0, '')
  call('ZADD', parkedKey, 0, '')
  call('HSETNX', bucketsKey, '', '')
end

local function setMeta(field, value)
  metaChanges[#metaChanges + 1] = field
  metaChanges[#metaChanges + 1] = value
end

local function setScope(field, value)
  scopeChanges[#scopeChanges + 1] = field
  scopeChanges[#scopeChanges + 1] = value
end

local function writeAll(command, key, list, size)
  if #list > 0 then inSlices(command, key, list, size) end
end

-- Wakes the processes that wait. Until one of them is told again to wait, others need not do it.
local function wake()
  call('HSET', metaKey, 'waits', '-inf')
  -- A user without the right to publish must not lose what was written.
  redis.pcall(wakeCommand, wakeChannel, processId .. ' ' .. queueName)
end

local function write()
  if not (hasChanged or #metaChanges > 0 or #scopeChanges > 0 or isNewPrimary and version) then return end
  checkDescription()
  if not version then createKeys() end
  writeAll('HDEL', rowsKey, deletedRows, 1000)
  writeAll('HDEL', itemsKey, deletedItems, 1000)
  writeAll('HDEL', errorsKey, deletedErrors, 1000)
  for key, list in pairs(removed) do writeAll('ZREM', key, list, 1000) end
  for key, list in pairs(added) do writeAll('ZADD', key, list, 2000) end
  writeAll('HSET', rowsKey, setRows, 2000)
  writeAll('HSET', itemsKey, setItems, 2000)
  writeAll('HSET', errorsKey, setErrors, 2000)
  if seq ~= storedSeq then
    setMeta('seq', seq)
    if storedSeq < term * termSize then
      local numbers, ids = followedNumbers()
      setMeta('followed', numbers[1])
      setMeta('followedEarlier', table.concat(numbers, ' ', 2))
      setMeta('followedBy', table.concat(ids, ' '))
      setMeta('numberedBy', primary)
    end
  end
  if parkedPendingMore ~= 0 then setMeta('parked', tonumber(parkedPending or 0) + parkedPendingMore) end
  if otherPrioritiesMore ~= 0 then
    setMeta('priorities', tonumber(otherPriorities or 0) + otherPrioritiesMore)
  end
  writeAll('HSET', metaKey, metaChanges, 2000)
  if isNewPrimary then
    setScope(primaryField, primary)
    if lastPrimary then
      setScope('term', term)
      -- A claim sets a greater one itself.
      table.insert(scopeChanges, 1, lastToken)
      table.insert(scopeChanges, 1, 'token')
      setScope('grace', graceUntil)
    end
  end
  setScope('latest', now)
  if ahead ~= storedAhead then setScope('ahead', ahead) end
  writeAll('HSET', scopeKey, scopeChanges, 2000)
  if soonest < waitsUntil then wake() end
end
