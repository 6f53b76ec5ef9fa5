-- What workers record of a queue: packages/core/src/driver/history.ts.
--
-- `history`: a field "stepMs:at" for each step of each resolution, with "started done failed added merged
-- expired ready delayed held parked oldestMs capped paused", a space and the codes as JSON. `failed`: a field for each
-- failed run, which are numbered, with "at length code" and the run as JSON.
local historyKey, failedKey = KEYS[16], KEYS[17]
local historyDepthMax = 10000
local stepFormat = '^(%S+ %S+ %S+ %S+ %S+ %S+) (.-) (%[.*)$'
local noCounts = '0 0 0 0 0 0'

local function isBefore(a, b)
  if a[2] ~= b[2] then return a[2] > b[2] end
  -- The comparison of Lua depends on the locale of the server.
  local one, other = a[1], b[1]
  for index = 1, math.min(#one, #other) do
    local x, y = string.byte(one, index), string.byte(other, index)
    if x ~= y then return x < y end
  end
  return #one < #other
end

local function addCodes(before, more, limits)
  if more == '[]' then return before end
  local codesMax = tonumber(string.match(limits, '%d+'))
  local sums, all = {}, {}
  for _, text in ipairs({ before, more }) do
    for _, entry in ipairs(cjson.decode(text)) do
      local known = sums[entry[1]]
      if known then
        known[2] = known[2] + entry[2]
      else
        sums[entry[1]] = entry
        all[#all + 1] = entry
      end
    end
  end
  table.sort(all, isBefore)
  for index = #all, codesMax + 1, -1 do all[index] = nil end
  return cjson.encode(all)
end

local function addCounts(before, more)
  if more == noCounts then return before end
  local sums, next = {}, string.gmatch(more, '%S+')
  for text in string.gmatch(before, '%S+') do
    sums[#sums + 1] = string.format('%.17g', tonumber(text) + tonumber(next()))
  end
  return table.concat(sums, ' ')
end

-- Which failed runs to write, as the arguments of HSET, and which to delete.
local function keepRuns(count, limits)
  local runsMax, runsOfCodeMax, runsMsMax = string.match(limits, '%d+ (%d+) (%d+) (%d+)')
  runsMax, runsOfCodeMax, runsMsMax = tonumber(runsMax), tonumber(runsOfCodeMax), tonumber(runsMsMax)
  local runs = {}
  local all = call('HGETALL', failedKey)
  local last = 0
  for index = 1, #all, 2 do
    local at, length, rest = string.match(all[index + 1], '^(%S+) (%d+) (.*)$')
    if at then
      local number = tonumber(all[index])
      last = math.max(last, number)
      runs[#runs + 1] = { at = tonumber(at), number = number, code = string.sub(rest, 1, tonumber(length)) }
    end
  end
  for index = 1, count do
    local at, code, text = argument(), argument(), argument()
    runs[#runs + 1] = { at = tonumber(at), number = last + index, code = code,
      text = at .. ' ' .. #code .. ' ' .. code .. text }
  end
  table.sort(runs, function(a, b)
    if a.at ~= b.at then return a.at > b.at end
    return a.number > b.number
  end)
  local ofCode, kept, drops, adds = {}, 0, {}, {}
  for _, run in ipairs(runs) do
    local rank = (ofCode[run.code] or 0) + 1
    ofCode[run.code] = rank
    if kept < runsMax and rank <= runsOfCodeMax and run.at > now - runsMsMax then
      kept = kept + 1
      if run.text then
        adds[#adds + 1] = run.number
        adds[#adds + 1] = run.text
      end
    elseif not run.text then
      drops[#drops + 1] = run.number
    end
  end
  return adds, drops
end

-- The steps that are not kept any more.
local function oldSteps(lengths)
  local gone = {}
  for _, name in ipairs(call('HKEYS', historyKey)) do
    local stepMs, at = string.match(name, '^(%d+):(.+)$')
    for index = 1, #lengths, 2 do
      local length, steps = lengths[index], lengths[index + 1]
      if tonumber(stepMs) == length and tonumber(at) <= (math.floor(now / length) - steps) * length then
        gone[#gone + 1] = name
      end
    end
  end
  return gone
end

-- Reads the arguments of a record, and adds it. `depthOf` returns "ready delayed held parked oldestMs
-- capped paused".
local function addRecord(depthOf)
  local lengths, names = {}, {}
  for text in string.gmatch(argument(), '%S+') do lengths[#lengths + 1] = tonumber(text) end
  local limits, counts, codes = argument(), argument(), argument()
  for index = 1, #lengths, 2 do
    local stepMs = lengths[index]
    names[#names + 1] = string.format('%d:%d', stepMs, math.floor(now / stepMs) * stepMs)
  end
  local stored = call('HMGET', historyKey, unpack(names))
  local depth
  if stored[1] then depth = select(2, string.match(stored[1], stepFormat)) else depth = depthOf() end
  local cells = {}
  for index, name in ipairs(names) do
    local before, text = stored[index], nil
    if before then
      local sums, _, sumsOfCodes = string.match(before, stepFormat)
      text = addCounts(sums, counts) .. ' ' .. depth .. ' ' .. addCodes(sumsOfCodes, codes, limits)
    else
      text = counts .. ' ' .. depth .. ' ' .. codes
    end
    if text ~= before then
      cells[#cells + 1] = name
      cells[#cells + 1] = text
    end
  end
  -- The second resolution has a new step once a minute, which is when what is too old is deleted.
  local isSweep = not stored[2]
  local gone = isSweep and oldSteps(lengths) or {}
  local count, adds, drops = numberArgument(), {}, {}
  if count > 0 or isSweep then adds, drops = keepRuns(count, limits) end
  if #gone > 0 then inSlices('HDEL', historyKey, gone, 1000) end
  if #cells > 0 then call('HSET', historyKey, unpack(cells)) end
  if #drops > 0 then inSlices('HDEL', failedKey, drops, 1000) end
  if #adds > 0 then call('HSET', failedKey, unpack(adds)) end
  if isSweep then
    call('HSETNX', historyKey, '', '')
    call('HSETNX', failedKey, '', '')
  end
end
