#!lua flags=allow-oom
-- Removes every key of a queue; held keys stay held. Argument: the most held keys. Reply: how many keys there
-- were that had anything to remove, or -1 if more are held.
-- @include begin
-- @include rows
-- @include writes
-- @include pending
if not version and call('HLEN', rowsKey) == 0 then return answer(0) end
if call('ZCARD', heldKey) > numberArgument() then return answer(-1) end
-- If this is the first script on a new primary, its range of positions begins now, and is noted as such.
write()
local function without(names)
  local kept = {}
  for _, name in ipairs(names) do
    if name ~= '' then kept[#kept + 1] = name end
  end
  return kept
end
local names = without(call('ZRANGE', heldKey, 0, -1))
local stored = readAll('HMGET', rowsKey, names)
local cleared = 0
local keptNames, itemNames, errors, cells = {}, {}, {}, {}
for index, key in ipairs(names) do
  local row = stored[index]
  local flags = row and string.byte(row, 2)
  local hasItem = flags == IS_HELD + HAS_ITEM
  -- Most held keys have nothing to remove.
  if not hasItem and flags ~= IS_HELD then
    local state = decode(key, row)
    local hadPending = cancel(state)
    local hadFailures = forget(state)
    if state.token ~= 0 and (hadPending or hadFailures or state.parked) then cleared = cleared + 1 end
    state.parked = false
    hasItem = state.hasItem
    row = state.token ~= 0 and encode(state, HELD)
    if row and state.hasError then
      errors[#errors + 1] = key
      errors[#errors + 1] = call('HGET', errorsKey, key)
    end
  end
  if not row then
    -- A damaged queue can list keys as held that are not.
    removeMember(heldKey, key)
  else
    cells[#cells + 1] = key
    cells[#cells + 1] = row
    keptNames[#keptNames + 1] = 0
    keptNames[#keptNames + 1] = key
    if hasItem then itemNames[#itemNames + 1] = key end
  end
end
cleared = cleared + call('HLEN', rowsKey) - 1 - #cells / 2
local items = {}
for index, text in ipairs(readAll('HMGET', itemsKey, itemNames)) do
  items[index * 2 - 1] = itemNames[index]
  items[index * 2] = text
end
call('UNLINK', rowsKey, itemsKey, errorsKey, keysKey, readyKey, delayedKey, backoffKey, dirtyKey, parkedKey, idleKey)
local sameGeneration = generation
createKeys()
generation = sameGeneration or generation
call('HSET', metaKey, 'generation', generation, 'parked', 0, 'priorities', 0)
writeAll('ZREM', heldKey, removed[heldKey], 1000)
writeAll('HSET', rowsKey, cells, 2000)
writeAll('HSET', itemsKey, items, 2000)
writeAll('HSET', errorsKey, errors, 2000)
writeAll('ZADD', keysKey, keptNames, 2000)
call('HSET', scopeKey, 'latest', now, 'ahead', ahead)
return answer(cleared)
