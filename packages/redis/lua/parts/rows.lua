-- The packed row of a key.
--
--   place  B   the sorted set that the key is in, see below
--   flags  B   which parts follow
--   whys   B   why + 4 * why of the second run + 16 * why of the claimed run + 64 if trace follows
--              + 128 if claimed trace follows
--   held       I7 token, d lease end, d due, d later, d ready, d asked, I7 seq, h priority, I7 claim,
--              B length of the holder, holder
--   pending    flat: d due, I7 seq, h priority; otherwise d due, d ready, d asked, I7 seq, h priority
--   later      d
--   counts     I4 failures, I4 crashes, d failed at
--   trace      B length, the trace contexts of the pending run
--   claimed trace   the same of the claimed run
local NONE, READY, DELAYED, BACKOFF, HELD, PARKED, IDLE = 0, 1, 2, 3, 4, 5, 6
local HAS_ITEM, HAS_ERROR, HAS_COUNTS, IS_PARKED, IS_HELD, IS_PENDING, HAS_LATER, IS_FLAT =
  1, 2, 4, 8, 16, 32, 64, 128
local HAS_TRACE, HAS_CLAIMED_TRACE = 64, 128
local WHY_ADD, WHY_DELAY, WHY_BACKOFF = 0, 1, 2
local pack, unpackRow = struct.pack, struct.unpack
local heldFormat = '>I7dddddI7hI7B'
local heldLength = 65

local function damaged(key)
  return error({ err = 'SLUICEDAMAGED the stored row of key ' .. key .. ' of queue ' .. queueName .. ' cannot be read' })
end

local function lostItem(key)
  return error({ err = 'SLUICEDAMAGED the item of key ' .. key .. ' of queue ' .. queueName
    .. ' is lost: add the key with its item, or remove it' })
end

-- The state of a key of which nothing is stored.
local function newState()
  return {
    place = NONE, due = inf, why = WHY_ADD, later = inf, laterWhy = WHY_ADD, ready = inf, seq = 0,
    priority = 0, asked = inf, token = 0, lease = inf, claimedDue = inf, claimedWhy = WHY_ADD,
    claimedLater = inf, claimedReady = inf, claimedSeq = 0, claimedPriority = 0, claimedAsked = inf,
    failures = 0, crashes = 0, failed = inf, parked = false, hasItem = false, hasError = false,
  }
end

local function decodeParts(state, row, flags, whys)
  local position = 4
  local hasClaimedTrace = whys >= HAS_CLAIMED_TRACE
  if hasClaimedTrace then whys = whys - HAS_CLAIMED_TRACE end
  local hasTrace = whys >= HAS_TRACE
  if hasTrace then whys = whys - HAS_TRACE end
  local claimedWhy = math.floor(whys / 16)
  whys = whys % 16
  state.laterWhy = math.floor(whys / 4)
  state.why = whys % 4
  if flags >= IS_FLAT then
    state.isFlat = true
    flags = flags - IS_FLAT
  end
  local hasLater = flags >= HAS_LATER
  if hasLater then flags = flags - HAS_LATER end
  local isPending = flags >= IS_PENDING
  if isPending then flags = flags - IS_PENDING end
  local isHeld = flags >= IS_HELD
  if isHeld then flags = flags - IS_HELD end
  state.parked = flags >= IS_PARKED
  if state.parked then flags = flags - IS_PARKED end
  local hasCounts = flags >= HAS_COUNTS
  if hasCounts then flags = flags - HAS_COUNTS end
  state.hasError = flags >= HAS_ERROR
  state.hasItem = flags % 2 == 1
  if isHeld then
    local holderLength
    state.token, state.lease, state.claimedDue, state.claimedLater, state.claimedReady,
      state.claimedAsked, state.claimedSeq, state.claimedPriority, state.claim, holderLength,
      position = unpackRow(heldFormat, row, position)
    state.claimedWhy = claimedWhy
    state.holder = string.sub(row, position, position + holderLength - 1)
    position = position + holderLength
  end
  if isPending then
    if state.isFlat then
      state.due, state.seq, state.priority, position = unpackRow('>dI7h', row, position)
      state.ready = state.due
      state.asked = state.due
    else
      state.due, state.ready, state.asked, state.seq, state.priority, position =
        unpackRow('>dddI7h', row, position)
    end
  elseif isHeld then
    -- Without a pending run these members mean nothing; they have the values that a claim leaves.
    state.why = claimedWhy
    state.ready = state.claimedReady
    state.seq = state.claimedSeq
    state.priority = state.claimedPriority
    state.asked = state.claimedAsked
  end
  if hasLater then state.later, position = unpackRow('>d', row, position) end
  if hasCounts then
    state.failures, state.crashes, state.failed, position = unpackRow('>I4I4d', row, position)
  end
  if hasTrace then state.trace, position = unpackRow('Bc0', row, position) end
  if hasClaimedTrace then state.claimedTrace, position = unpackRow('Bc0', row, position) end
  if position ~= #row + 1 then error('length') end
end

local function decode(key, row)
  local state = newState()
  if not row then return state end
  local place, flags, whys = string.byte(row, 1, 3)
  if not whys or place > IDLE or not pcall(decodeParts, state, row, flags, whys) then damaged(key) end
  state.row = row
  state.place = place
  -- What the members of the sorted sets were made of.
  state.oldDue, state.oldReady, state.oldSeq, state.oldPriority = state.due, state.ready, state.seq, state.priority
  return state
end

local function encode(state, place)
  local flags, whys = 0, 0
  local held, pending, later, counts = '', '', '', ''
  if state.hasItem then flags = HAS_ITEM end
  if state.hasError then flags = flags + HAS_ERROR end
  if state.parked then flags = flags + IS_PARKED end
  if state.failures > 0 or state.crashes > 0 then
    flags = flags + HAS_COUNTS
    counts = pack('>I4I4d', state.failures, state.crashes, state.failed)
  end
  if state.token ~= 0 then
    flags = flags + IS_HELD
    whys = state.claimedWhy * 16
    held = pack(heldFormat, state.token, state.lease, state.claimedDue, state.claimedLater,
      state.claimedReady, state.claimedAsked, state.claimedSeq, state.claimedPriority, state.claim,
      #state.holder) .. state.holder
  end
  local due = state.due
  if due ~= inf then
    flags = flags + IS_PENDING
    whys = whys + state.why
    if state.ready == due and state.asked == due then
      flags = flags + IS_FLAT
      pending = pack('>dI7h', due, state.seq, state.priority)
    else
      pending = pack('>dddI7h', due, state.ready, state.asked, state.seq, state.priority)
    end
    if state.later ~= inf then
      flags = flags + HAS_LATER
      whys = whys + state.laterWhy * 4
      later = pack('>d', state.later)
    end
  end
  local traces = ''
  if state.trace then
    whys = whys + HAS_TRACE
    traces = pack('Bc0', #state.trace, state.trace)
  end
  if state.claimedTrace then
    whys = whys + HAS_CLAIMED_TRACE
    traces = traces .. pack('Bc0', #state.claimedTrace, state.claimedTrace)
  end
  return string.char(place, flags, whys) .. held .. pending .. later .. counts .. traces
end

-- The member of a ready key: in the order of bytes, members of one score are in the order of claims.
local function readyMember(key, ready, number)
  if ready >= 0 then return pack('>BdI7', 1, ready + 0, number) .. key end
  -- Doubles below zero are in the opposite order.
  local flipped = string.gsub(pack('>d', ready), '.', function(byte)
    return string.char(255 - string.byte(byte))
  end)
  return string.char(0) .. flipped .. pack('>I7', number) .. key
end
local readyHead = 16

local function delayedMember(key, number)
  return pack('>I7', number) .. key
end
local delayedHead = 7

local setOfPlace = { readyKey, delayedKey, backoffKey, heldKey, parkedKey, idleKey }

local function memberOf(place, key, ready, number)
  if place == READY then return readyMember(key, ready, number) end
  if place == DELAYED or place == BACKOFF then return delayedMember(key, number) end
  return key
end

local function scoreOf(place, state)
  if place == READY then return -state.priority end
  if place == DELAYED or place == BACKOFF then return state.due end
  if place == HELD then return state.lease end
  if place == PARKED then return 0 end
  return state.failed
end

local function placeOf(state)
  if state.token ~= 0 then return HELD end
  if state.parked then return PARKED end
  local due = state.due
  if due == inf then
    if state.failures == 0 and state.crashes == 0 then return NONE end
    return IDLE
  end
  if due <= now then return READY end
  if state.why == WHY_BACKOFF then return BACKOFF end
  return DELAYED
end

-- Reads keys; those of which nothing is stored have the state of a new key.
local function readKeys(names)
  local stored = readAll('HMGET', rowsKey, names)
  local states = {}
  for index, name in ipairs(names) do states[index] = decode(name, stored[index]) end
  return states
end
