#!lua flags=no-writes
-- Lists keys in the order of their bytes.
--
-- Arguments: the most bytes of items and errors, or -1 to examine the keys; the number of names, then the
-- names, or -1 and: the sorted set to read (keys or parked), the lower bound of ZRANGEBYLEX, the most keys to look at.
-- Reply: how many keys were looked at, negative if there were too many bytes for the rest, and the name of the last of
-- them; then for each stored key its name, item, error, holder, and the numbers of its state, the trace contexts of
-- the pending and of the claimed run; an absent text is false, and an item that is lost ''. When it examines: then the names of the keys whose row
-- does not agree with the sorted sets, each with 's' before it, and of those whose item is lost, with 'i'.
-- @include begin
-- @include rows
local bytesMax = numberArgument()
local count = numberArgument()
local names = {}
if count >= 0 then
  for index = 1, count do names[index] = argument() end
else
  local key = argument() == 'parked' and parkedKey or keysKey
  local from = argument()
  names = call('ZRANGEBYLEX', key, from, '+', 'LIMIT', 0, numberArgument())
end
local replies = {}
local bytes, looked = 0, #names

local function agrees(key, state)
  if state.place == NONE then return false end
  local member = memberOf(state.place, key, state.ready, state.seq)
  local dirty = state.token ~= 0 and state.due ~= inf and state.due
  return tonumber(call('ZSCORE', setOfPlace[state.place], member)) == scoreOf(state.place, state)
    and (tonumber(call('ZSCORE', dirtyKey, key)) or false) == dirty
end

local whys = { [WHY_ADD] = 'add', [WHY_DELAY] = 'delay', [WHY_BACKOFF] = 'backoff' }
for index, state in ipairs(readKeys(names)) do
  if bytesMax < 0 then
    local key = names[index]
    if not agrees(key, state) then replies[#replies + 1] = 's' .. key end
    if state.hasItem and call('HSTRLEN', itemsKey, key) == 0 then replies[#replies + 1] = 'i' .. key end
  elseif state.place ~= NONE then
    local key = names[index]
    local item = state.hasItem and (call('HGET', itemsKey, key) or '')
    local message = state.hasError and call('HGET', errorsKey, key) or false
    bytes = bytes + (item and #item or 0) + (message and #message or 0)
    replies[#replies + 1] = {
      key,
      item,
      message,
      state.holder or false,
      whys[state.why], whys[state.laterWhy], whys[state.claimedWhy],
      string.format(
        '%.17g %.17g %.17g %.17g %d %.17g %.17g %.17g %.17g %.17g %.17g %.17g %d %.17g %.17g %.17g %.17g %d',
        state.due, state.later, state.ready, state.seq, state.priority, state.asked, state.token, state.lease,
        state.claimedDue, state.claimedLater, state.claimedReady, state.claimedSeq, state.claimedPriority,
        state.claimedAsked, state.failures, state.crashes, state.failed, state.parked and 1 or 0),
      state.trace or false,
      state.claimedTrace or false,
    }
    if bytes >= bytesMax and index < #names then
      looked = -index
      break
    end
  end
end
return answer(looked, names[math.abs(looked)] or '', unpack(replies))
