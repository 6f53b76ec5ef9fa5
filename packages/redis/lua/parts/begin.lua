-- The head of every script: the names of its keys, the store's time, and what is stored of the queue.
local call = redis.call
-- Rights that were withdrawn: a command that is denied in the middle would leave half of a change. Some hosted
-- services cannot tell.
local isAllowed = redis.acl_check_cmd or tostring
-- With as many arguments as the commands need: with fewer, Redis 8 ends the script.
local function checkRights(names, ...)
  for name in string.gmatch(names, '%a+') do
    if not isAllowed(name, ...) then
      error({ err = "NOPERM this user has no permissions to run the '" .. string.lower(name) .. "' command" })
    end
  end
end
checkRights('TIME')
checkRights('HGETALL HKEYS HLEN UNLINK ZCARD', KEYS[1])
checkRights('HDEL HGET HMGET HSTRLEN ZRANK ZREM ZSCORE', KEYS[1], '0')
checkRights('HINCRBY HSET HSETNX ZADD ZCOUNT ZRANGE ZRANGEBYLEX ZRANGEBYSCORE ZREMRANGEBYRANK', KEYS[1], '0', '0')
local inf = math.huge
local rowsKey, itemsKey, errorsKey, keysKey, readyKey, delayedKey, backoffKey, heldKey, dirtyKey,
  parkedKey, idleKey, metaKey, workersKey, scopeKey, bucketsKey = unpack(KEYS)
local givenNow, leastNow, wakeCommand, wakeChannel, queueName, processId, primary = unpack(ARGV)
-- The arguments of the verb come after those of every script.
local at = 7

local function argument()
  at = at + 1
  return ARGV[at]
end

local function numberArgument()
  return tonumber(argument())
end

local version, seq, pausedMark, parkedPending, waits, generation, otherPriorities = unpack(
  call('HMGET', metaKey, 'version', 'seq', 'paused', 'parked', 'waits', 'generation', 'priorities'))
-- A later version of Sluice has stored the queue in another way.
if version and version ~= '1' then
  error({ err = 'SLUICELAYOUT queue ' .. queueName .. ' is stored with layout ' .. version
    .. ', newer than 1; upgrade @sluice/redis' })
end
local isPaused = pausedMark == '1'
local lastToken, ahead, latest, lastPrimary, graceUntil, term, lastNode, retiredSeq =
  unpack(call('HMGET', scopeKey, 'token', 'ahead', 'latest', 'primary', 'grace', 'term', 'node', 'seq'))
-- Each primary numbers keys in a range of its own, above those of the primaries before it.
local termSize = 4294967296
local storedSeq = tonumber(seq or 0)
term = tonumber(term or 0)
seq = math.max(storedSeq, term * termSize, tonumber(not version and retiredSeq or 0))
graceUntil = tonumber(graceUntil or '-inf')
lastToken = tonumber(lastToken or 0)
-- What a process that found nothing was told: when to look again. Nobody was told anything yet: any time.
local waitsUntil = tonumber(waits or 'inf')
ahead = tonumber(ahead or 0)
local storedAhead = ahead
latest = tonumber(latest or '-inf')

local now
if givenNow ~= '' then
  -- A given clock never goes back; the process of its owner sees to that.
  now = math.max(tonumber(givenNow), latest)
else
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000) + ahead
  local least = math.max(latest, tonumber(leastNow ~= '' and leastNow or '-inf'))
  if now < least then
    ahead = ahead + least - now
    now = least
  end
end

-- The run id of this process, or '' if the caller may not read it. Then a node of a cluster has its name.
local primaryField = 'primary'
if primary == 'cluster' then
  primary = call('CLUSTER', 'MYID')
  primaryField = 'node'
  lastPrimary = lastNode
end

-- Whole numbers travel as integers, others as text: the conversion of Redis cuts fractions off.
local function reply(number)
  if number % 1 == 0 and number < 9007199254740992 and number > -9007199254740992 then
    return number
  end
  return string.format('%.17g', number)
end

-- Calls a command with a list of arguments, in slices that Lua can pass.
local function inSlices(command, key, list, size)
  for from = 1, #list, size do
    call(command, key, unpack(list, from, math.min(from + size - 1, #list)))
  end
end

local function readAll(command, key, names)
  if #names <= 2000 then
    if #names == 0 then return {} end
    return call(command, key, unpack(names))
  end
  local found = {}
  for from = 1, #names, 2000 do
    local slice = call(command, key, unpack(names, from, math.min(from + 1999, #names)))
    for index = 1, #slice do found[from + index - 1] = slice[index] end
  end
  return found
end

-- Stops where the description of the queue was deleted, which would be taken for an empty one.
local function checkDescription()
  if not version and call('HLEN', rowsKey) > 0 then error('the description is missing') end
end

-- The reply of every script begins with what every caller notes.
local function answer(...)
  return { reply(now), reply(ahead), primary, generation or '', seq, ... }
end
