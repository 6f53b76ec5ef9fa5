#!lua flags=allow-oom
-- Hands out due keys under a lease.
--
-- Arguments: limit, holder, number of the request, leaseMs, dueBy or '', the most bytes of items,
-- the member of `ready` to continue after, in hexadecimal, or ''.
-- Reply: 1 if the claim has to be repeated at once, the member to continue after or '', the expired
-- leases, the first token, the end of the leases, then for each key its name, item, and readyAt, or
-- "readyAt askedAt priority failures crashes", and after these the trace contexts.
-- @include begin
-- @include rows
-- @include writes
-- @include due
-- @include leases
local limit = numberArgument()
local holder = argument()
local claimNumber = numberArgument()
local leaseMs = numberArgument()
local dueBy = numberArgument()
local bytesMax = numberArgument()
local continueAfter = argument()
local looksMax = 2000
local leaseUntil = now + leaseMs

local function none(mustRepeat, position)
  write()
  if waits and not isPaused and mustRepeat == 0 then
    -- From now on an add wakes the caller.
    call('HDEL', metaKey, 'waits')
  end
  return answer(mustRepeat, position, expiredLeases(100), 0, 0)
end

checkDescription()
if isPaused or not version then return none(0, '') end
if moveDue(math.max(limit, 250)) then return none(1, '') end

local from = 0
if continueAfter ~= '' then
  local member = string.gsub(continueAfter, '%x%x', function(hex) return string.char(tonumber(hex, 16)) end)
  from = (call('ZRANK', readyKey, member) or -1) + 1
end
local looks = dueBy and looksMax or limit
local members = call('ZRANGE', readyKey, from, from + looks - 1)
local names, found = {}, {}
for index, member in ipairs(members) do
  if member ~= '' then names[index] = string.sub(member, readyHead + 1) end
end
local stored = readAll('HMGET', rowsKey, names)

-- The keys to claim: their indexes, and the state of those that are not plain.
local chosen, states, itemNames = {}, {}, {}
local isCut = false
local plainFlags = IS_PENDING + IS_FLAT
for index, key in ipairs(names) do
  local row = stored[index]
  local flags = row and string.byte(row, 2)
  local isPlain = flags == plainFlags or flags == plainFlags + HAS_ITEM
  local state, due
  if isPlain and #row == 20 and string.byte(row, 1) == READY then
    due = unpackRow('>d', row, 4)
  else
    state = decode(key, row)
    if state.place ~= READY then damaged(key) end
    due = state.due
  end
  if due > now then
    -- The clock was set back while another server was the primary: the key waits again.
    local waiting = state or decode(key, row)
    store(key, waiting)
  elseif not dueBy or due <= dueBy then
    if state and state.crashes > 1 then
      isCut = true
      if #chosen > 0 then break end
    end
    chosen[#chosen + 1] = index
    states[#chosen] = state or false
    if (state and state.hasItem) or flags == plainFlags + HAS_ITEM then itemNames[#itemNames + 1] = #chosen end
    if isCut or #chosen == limit then break end
  end
end

-- Items are read a few at a time, some 64 kB, so that a claim of long ones ends early.
local items, bytes, first, step = {}, 0, 1, 4
while first <= #itemNames do
  local slice = {}
  local last = math.min(first + step - 1, #itemNames)
  for index = first, last do slice[#slice + 1] = names[chosen[itemNames[index]]] end
  local texts = call('HMGET', itemsKey, unpack(slice))
  for index, text in ipairs(texts) do
    if not text then lostItem(slice[index]) end
    items[itemNames[first + index - 1]] = text
    bytes = bytes + #text
  end
  first = last + 1
  local next = itemNames[first]
  if bytes >= bytesMax and next then
    for index = #chosen, next, -1 do
      chosen[index] = nil
    end
    break
  end
  step = math.max(1, math.min(64, math.floor(65536 * last / bytes)))
end

if #chosen == 0 then
  local hasMore = dueBy and #names == looks
  -- Replies are read as UTF-8, which a member is not.
  local position = hasMore and string.gsub(members[#names], '.', function(byte)
    return string.format('%02x', string.byte(byte))
  end)
  return none(0, position or '')
end

-- Tokens follow the server's clock even where another one is given: they are seen outside of the store.
local time = call('TIME')
local token = math.max(lastToken, time[1] * 1000000 + time[2])
local firstToken = token + 1
if token + #chosen > 9007199254740991 then
  return redis.error_reply('SLUICETOKENS no token is left below 2^53, so no key can be claimed')
end
-- Members that follow each other are removed by their ranks, without a search for each.
local isInRow = chosen[#chosen] == #chosen
local leaves = isInRow and {} or removed[readyKey]
local enters = added[heldKey]
local replies = {}
local heldTail = string.char(#holder) .. holder
for index, position in ipairs(chosen) do
  local key, state = names[position], states[index]
  local base = index * 3
  replies[base - 2] = key
  replies[base - 1] = items[index] or ''
  if not state then
    local row = stored[position]
    local flags, whys = string.byte(row, 2, 3)
    local due, number, priority = unpackRow('>dI7h', row, 4)
    leaves[#leaves + 1] = members[position]
    enters[#enters + 1] = leaseUntil
    enters[#enters + 1] = key
    setRows[#setRows + 1] = key
    setRows[#setRows + 1] = string.char(HELD, flags - plainFlags + IS_HELD, whys * 16)
      .. pack('>I7dddddI7hI7', token + index, leaseUntil, due, inf, due, due, number, priority, claimNumber)
      .. heldTail
    replies[base] = priority == 0 and reply(due)
      or string.format('%.17g %.17g %d 0 0', due, due, priority)
  else
    replies[base] = string.format('%.17g %.17g %d %.17g %.17g', state.ready, state.asked, state.priority,
      state.failures, state.crashes)
    if state.trace then replies[base] = replies[base] .. ' ' .. state.trace end
    state.claimedTrace, state.trace = state.trace, nil
    state.claimedDue, state.claimedWhy, state.claimedReady = state.due, state.why, state.ready
    state.claimedSeq, state.claimedPriority, state.claimedAsked = state.seq, state.priority, state.asked
    state.token, state.lease, state.holder, state.claim = token + index, leaseUntil, holder, claimNumber
    local later = state.later
    state.later = inf
    if later == inf or later <= now then
      state.claimedLater = inf
      state.due = inf
    else
      seq = seq + 1
      state.claimedLater = later
      state.due = later
      state.why = state.laterWhy
      state.ready = later
      state.seq = seq
    end
    store(key, state)
  end
end
setScope('token', token + #chosen)
local leases = expiredLeases(100)
if isInRow then call('ZREMRANGEBYRANK', readyKey, from, from + #chosen - 1) end
write()
return answer(0, '', leases, firstToken, reply(leaseUntil), unpack(replies))
