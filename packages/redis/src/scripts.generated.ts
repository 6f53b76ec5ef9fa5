// Generated from lua/ by tools/embed-sql; change those files instead.
const parts = {
  adding: `local ADDED, MOVED, UNCHANGED, STAYS_PARKED, FULL = 0, 1, 2, 3, 4
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
end`,
  begin: `local call = redis.call
local isAllowed = redis.acl_check_cmd or tostring
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
if version and version ~= '1' then
error({ err = 'SLUICELAYOUT queue ' .. queueName .. ' is stored with layout ' .. version
.. ', newer than 1; upgrade @sluice/redis' })
end
local isPaused = pausedMark == '1'
local lastToken, ahead, latest, lastPrimary, graceUntil, term, lastNode, retiredSeq =
unpack(call('HMGET', scopeKey, 'token', 'ahead', 'latest', 'primary', 'grace', 'term', 'node', 'seq'))
local termSize = 4294967296
local storedSeq = tonumber(seq or 0)
term = tonumber(term or 0)
seq = math.max(storedSeq, term * termSize, tonumber(not version and retiredSeq or 0))
graceUntil = tonumber(graceUntil or '-inf')
lastToken = tonumber(lastToken or 0)
local waitsUntil = tonumber(waits or 'inf')
ahead = tonumber(ahead or 0)
local storedAhead = ahead
latest = tonumber(latest or '-inf')
local now
if givenNow ~= '' then
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
local primaryField = 'primary'
if primary == 'cluster' then
primary = call('CLUSTER', 'MYID')
primaryField = 'node'
lastPrimary = lastNode
end
local function reply(number)
if number % 1 == 0 and number < 9007199254740992 and number > -9007199254740992 then
return number
end
return string.format('%.17g', number)
end
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
local function checkDescription()
if not version and call('HLEN', rowsKey) > 0 then error('the description is missing') end
end
local function answer(...)
return { reply(now), reply(ahead), primary, generation or '', seq, ... }
end`,
  counting: `local function countStates()
local function size(key)
if not call('ZSCORE', key, '') then error('a set is missing') end
return call('ZCARD', key) - 1
end
local dueDelayed = call('ZCOUNT', delayedKey, '-inf', now)
local dueBackoff = call('ZCOUNT', backoffKey, '-inf', now)
local dirty = call('ZCOUNT', dirtyKey, '-inf', now)
local oldest = inf
for _, key in ipairs({ delayedKey, backoffKey }) do
local first = call('ZRANGE', key, 0, 0, 'WITHSCORES')
local due = tonumber(first[2])
if due <= now then oldest = math.min(oldest, due) end
end
local score = '-inf'
while true do
local first = call('ZRANGEBYSCORE', readyKey, score, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
if not first[1] or first[1] == '' then break end
local key = string.sub(first[1], readyHead + 1)
oldest = math.min(oldest, decode(key, call('HGET', rowsKey, key)).ready)
score = '(' .. first[2]
end
return oldest, size(readyKey) + dueDelayed + dueBackoff, size(delayedKey) - dueDelayed,
size(backoffKey) - dueBackoff, size(heldKey) - dirty, dirty, size(parkedKey), size(idleKey)
end`,
  due: `local function fallDue(setKey, wanted)
local members = call('ZRANGEBYSCORE', setKey, '-inf', now, 'LIMIT', 0, wanted)
if #members == 0 then return false end
local names = {}
for index, member in ipairs(members) do names[index] = string.sub(member, delayedHead + 1) end
local stored = readAll('HMGET', rowsKey, names)
local readyMembers, rows, others = {}, {}, 0
local readyMark = string.char(READY)
for index, key in ipairs(names) do
local row = stored[index]
local state = decode(key, row)
if state.place ~= DELAYED and state.place ~= BACKOFF then damaged(key) end
readyMembers[index * 2 - 1] = -state.priority
readyMembers[index * 2] = readyMember(key, state.ready, state.seq)
rows[index * 2 - 1] = key
rows[index * 2] = readyMark .. string.sub(row, 2)
if state.priority ~= 0 then others = others + 1 end
end
inSlices('ZREM', setKey, members, 1000)
inSlices('ZADD', readyKey, readyMembers, 2000)
inSlices('HSET', rowsKey, rows, 2000)
if others > 0 then otherPriorities = call('HINCRBY', metaKey, 'priorities', -others) end
return #members == wanted
end
local function moveDue(wanted)
local moreDelayed = fallDue(delayedKey, wanted)
local moreBackoff = fallDue(backoffKey, wanted)
return (moreDelayed or moreBackoff) and tonumber(otherPriorities or 0) > 0
end`,
  givenBack: `local IDLE_NOW, READY_NOW, DELAYED_NOW, PARKED_NOW, LOST = 0, 1, 2, 3, 4
local function resting(state)
if state.parked then return PARKED_NOW end
if state.due == inf then return IDLE_NOW end
return state.due <= now and READY_NOW or DELAYED_NOW
end
local function free(state, number)
state.token = 0
state.lease = inf
state.claimedTrace = nil
if state.due <= now then
state.ready = now
state.seq = number
end
return resting(state)
end`,
  history: `local historyKey, failedKey = KEYS[16], KEYS[17]
local historyDepthMax = 10000
local stepFormat = '^(%S+ %S+ %S+ %S+ %S+ %S+) (.-) (%[.*)$'
local noCounts = '0 0 0 0 0 0'
local function isBefore(a, b)
if a[2] ~= b[2] then return a[2] > b[2] end
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
end`,
  leases: `local function expiredLeases(limit)
if now < graceUntil then return {} end
local names = call('ZRANGEBYSCORE', heldKey, '-inf', now, 'LIMIT', 0, limit)
local leases = {}
if #names == 0 then return leases end
local stored = readAll('HMGET', rowsKey, names)
for index, key in ipairs(names) do
local state = decode(key, stored[index])
if state.place ~= HELD then damaged(key) end
leases[index * 2 - 1] = key
leases[index * 2] = state.token
end
return leases
end`,
  pending: `local failuresMax = 2147483647
local function collapse(state)
if state.later <= now and state.due <= now then state.later = inf end
end
local function setDue(state, due, why, number)
state.due = due
state.why = why
state.ready = due
state.seq = number
end
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
end`,
  plans: `local delayNsMax = 315576000000 * 1e6
local neverNs = 9223372036854775808
local buckets = {}
local chargedBuckets = {}
local function truncate(number)
if number >= 0 then return math.floor(number) end
return math.ceil(number)
end
local function nsOfMs(ms)
local ns = ms * 1e6
if ms % 1 == 0 then return ns end
local whole = math.floor(ns + 0.5)
if whole / 1e6 == ms then return whole end
return truncate(ns)
end
local function clampNs(ns)
if ns > 0 then return math.min(ns, delayNsMax) end
return 0
end
local delayNs
local function exponentialNs(plan, failures)
local baseNs = nsOfMs(plan.baseMs)
if baseNs == 0 then return 0 end
return math.min(baseNs * 2 ^ math.min(failures, 60), nsOfMs(plan.maxMs))
end
delayNs = function(plan, failures, delays, jitter)
local kind = plan.kind
if kind == 'exponential' then return exponentialNs(plan, failures) end
if kind == 'fastSlow' then return nsOfMs(failures < plan.maxFast and plan.fastMs or plan.slowMs) end
if kind == 'bucket' then return clampNs(nsOfMs(delays[plan.name] or 0)) end
if kind == 'maxOf' then
local longest = 0
for _, part in ipairs(plan.of) do longest = math.max(longest, delayNs(part, failures, delays, jitter)) end
return longest
end
local partNs = delayNs(plan.of, failures, delays, jitter)
if kind == 'maxWait' then return math.min(partNs, nsOfMs(plan.maxMs)) end
local share = jitter > 0 and math.min(jitter, 1) or 0
return clampNs(partNs + truncate(share * plan.factor * partNs))
end
local function planDelay(plan, failures, delays, jitter)
return clampNs(delayNs(plan, failures, delays, jitter or 0)) / 1e6
end
local function gatherBuckets(plan, found)
local kind = plan.kind
if kind == 'bucket' then
if plan.perSecond ~= 'infinite' then found[plan.name] = plan end
elseif kind == 'maxOf' then
for _, part in ipairs(plan.of) do gatherBuckets(part, found) end
elseif kind == 'maxWait' or kind == 'jittered' then
gatherBuckets(plan.of, found)
end
return found
end
local function storedBucket(name)
local bucket = buckets[name]
if bucket == nil then
bucket = {}
local text = call('HGET', bucketsKey, name)
if text then
local _, _, tokens, time = string.match(text, '^(%S+) (%S+) (%S+) (%S+)$')
bucket.tokens = tonumber(tokens)
bucket.time = tonumber(time)
end
buckets[name] = bucket
end
return bucket
end
local function reserveToken(bucket, rate)
local tokens = rate.burst
if bucket.tokens then
local elapsedMs = now - bucket.time
local more = 0
if rate.perSecond > 0 and elapsedMs > 0 then more = elapsedMs / 1000 * rate.perSecond end
tokens = math.min(rate.burst, bucket.tokens + more)
end
tokens = tokens - 1
local delayMs = 0
if tokens < 0 then
if rate.perSecond <= 0 then
delayMs = inf
else
local ns = truncate(-tokens / rate.perSecond * 1e9)
delayMs = ns >= neverNs and inf or ns / 1e6
end
end
if rate.burst < 1 then return inf, nil end
return delayMs, tokens
end
local function delayOfPlan(plan, failures, jitter, reservations)
local delays = {}
for name, rate in pairs(gatherBuckets(plan, {})) do
local bucket = storedBucket(name)
local delayMs, tokens = reserveToken(bucket, rate)
delays[name] = delayMs
reservations[name] = { bucket = bucket, tokens = tokens, rate = rate }
end
return planDelay(plan, failures, delays, jitter)
end
local function chargeBuckets(reservations)
for name, reservation in pairs(reservations) do
if reservation.tokens then
reservation.bucket.tokens = reservation.tokens
reservation.bucket.time = now
chargedBuckets[name] = reservation.rate
end
end
end
local function bucketText(perSecond, burst, tokens, time)
return string.format('%.17g %.17g %.17g %.17g', perSecond, burst, tokens, time)
end
local function writeBuckets()
for name, rate in pairs(chargedBuckets) do
local bucket = buckets[name]
call('HSET', bucketsKey, name, bucketText(rate.perSecond, rate.burst, bucket.tokens, bucket.time))
end
end
local function readPlans()
local plans = {}
for index = 1, numberArgument() do plans[index] = cjson.decode(argument()) end
return plans
end`,
  rows: `local NONE, READY, DELAYED, BACKOFF, HELD, PARKED, IDLE = 0, 1, 2, 3, 4, 5, 6
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
local function readyMember(key, ready, number)
if ready >= 0 then return pack('>BdI7', 1, ready + 0, number) .. key end
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
local function readKeys(names)
local stored = readAll('HMGET', rowsKey, names)
local states = {}
for index, name in ipairs(names) do states[index] = decode(name, stored[index]) end
return states
end`,
  transferRows: `local function readTransferRows()
local names, moved = {}, {}
for index = 1, numberArgument() do
names[index] = argument()
local row = { item = argument(), error = argument() }
local words, numbers = {}, {}
for text in string.gmatch(argument(), '%S+') do words[#words + 1] = text end
for place = 1, 13 do numbers[place] = tonumber(words[place]) end
row.by = words[14]
row.trace = words[15] and table.concat(words, ' ', 15)
row.due, row.why, row.later, row.laterWhy, row.ready, row.seq, row.priority, row.asked, row.failures,
row.crashes, row.failed, row.parked, row.lastSeq = unpack(numbers, 1, 13)
row.parked = row.parked == 1
moved[index] = row
end
return names, moved
end`,
  writes: `local setRows, deletedRows, setItems, deletedItems, setErrors, deletedErrors = {}, {}, {}, {}, {}, {}
local metaChanges, scopeChanges = {}, {}
local function newList(lists, key)
lists[key] = {}
return lists[key]
end
local added, removed = setmetatable({}, { __index = newList }), setmetatable({}, { __index = newList })
local parkedPendingMore, otherPrioritiesMore = 0, 0
local soonest = inf
local hasChanged = false
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
local function countPending()
return call('ZCARD', readyKey) + call('ZCARD', delayedKey) + call('ZCARD', backoffKey)
+ call('ZCARD', dirtyKey) - (version and 4 or 0) + tonumber(parkedPending or 0)
end
local followedMax = 16
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
local function wake()
call('HSET', metaKey, 'waits', '-inf')
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
table.insert(scopeChanges, 1, lastToken)
table.insert(scopeChanges, 1, 'token')
setScope('grace', graceUntil)
end
end
setScope('latest', now)
if ahead ~= storedAhead then setScope('ahead', ahead) end
writeAll('HSET', scopeKey, scopeChanges, 2000)
if soonest < waitsUntil then wake() end
end`,
} as const

export const scriptTexts: {
  readonly add: string
  readonly adopt: string
  readonly change: string
  readonly claim: string
  readonly counts: string
  readonly drop: string
  readonly expire: string
  readonly finish: string
  readonly history: string
  readonly importBuckets: string
  readonly import: string
  readonly list: string
  readonly overview: string
  readonly pause: string
  readonly purge: string
  readonly renew: string
  readonly tick: string
  readonly tokens: string
} = {
  add: ['#!lua', parts.begin, 'return (function()', parts.rows, parts.writes, parts.pending, parts.adding, parts.plans, `local dedupe = argument()
local failuresExpireMs = numberArgument()
local maxPending = numberArgument()
local plans = readPlans()
local count = numberArgument()
local first = at
local names = {}
for index = 1, count do names[index] = ARGV[first + index * 3 - 2] end
local stored = readAll('HMGET', rowsKey, names)
local pendingKeys = maxPending and countPending()
local noOptions = { 0, 0, cjson.null, false, 0, 0, cjson.null }
local lastText, lastOptions = '', noOptions
local replies = {}
local newRow, newReady, newKeys = pack('>BBB', READY, IS_PENDING + IS_FLAT, WHY_ADD), added[readyKey], added[keysKey]
local newRowWithItem = pack('>BBB', READY, IS_PENDING + IS_FLAT + HAS_ITEM, WHY_ADD)
local memberHead = now >= 0 and pack('>Bd', 1, now + 0)
local function isDueAlready(row)
if string.byte(row, 2) ~= IS_PENDING + IS_FLAT then return false end
local due, _, priority = unpackRow('>dI7h', row, 4)
return due <= now and priority >= 0 and due >= 0 and due % 1 == 0
end
for index = 1, count do
local key, item, text = ARGV[first + index * 3 - 2], ARGV[first + index * 3 - 1], ARGV[first + index * 3]
local row = stored[index]
local number = seq + index
if not row and text == '' and not maxPending and memberHead then
local numberText = pack('>I7', number)
local size = #newReady
newReady[size + 1] = 0
newReady[size + 2] = memberHead .. numberText .. key
newKeys[#newKeys + 1] = 0
newKeys[#newKeys + 1] = key
setRows[#setRows + 1] = key
if item == '' then
setRows[#setRows + 1] = newRow .. pack('>dI7h', now, number, 0)
else
setRows[#setRows + 1] = newRowWithItem .. pack('>dI7h', now, number, 0)
setItems[#setItems + 1] = key
setItems[#setItems + 1] = item
end
hasChanged = true
soonest = now
replies[index] = 0
elseif row and text == '' and item == '' and isDueAlready(row) then
replies[index] = 1 + unpackRow('>d', row, 4)
else
if text ~= lastText then
lastText = text
lastOptions = text == '' and noOptions or cjson.decode(text)
end
local priority, delayMs, maxWaitMs, hasFailed, planNumber, jitter, trace = unpack(lastOptions)
local state = decode(key, row)
local isStale = hasStaleFailures(state, failuresExpireMs)
local failures = isStale and 0 or state.failures
if pendingKeys and state.due == inf and pendingKeys >= maxPending then
replies[index] = string.format('%d inf %.17g', FULL, failures)
else
local reservations = {}
if planNumber ~= 0 then delayMs = delayOfPlan(plans[planNumber], failures, jitter, reservations) end
local wasPending = state.due ~= inf
if isStale then forget(state) end
if hasFailed then countFailure(state) end
if trace ~= cjson.null then state.trace = mergeTraces(state.trace, trace) end
local outcome
if not (delayMs > 0) then
outcome = add(state, priority, dedupe, number)
elseif maxWaitMs ~= cjson.null then
outcome = addLatest(state, now + delayMs, maxWaitMs, priority, dedupe, number)
else
local why = hasFailed and WHY_BACKOFF or WHY_DELAY
outcome = addAfter(state, now + delayMs, why, priority, dedupe, number)
end
state.item = item ~= '' and item
if outcome ~= UNCHANGED then chargeBuckets(reservations) end
if pendingKeys and not wasPending then pendingKeys = pendingKeys + 1 end
store(key, state)
if outcome == UNCHANGED and planNumber == 0 and state.failures == 0 and state.due >= 0 and state.due % 1 == 0 then
replies[index] = 1 + state.due
else
replies[index] = string.format('%d %.17g %.17g %.17g', outcome, state.due, state.failures, delayMs)
end
end
end
end
seq = seq + count
if not hasChanged then seq = firstSeq end
writeBuckets()
write()
return answer(unpack(replies))`, 'end)()'].join('\n'),
  adopt: ['#!lua flags=no-writes', parts.begin, 'return (function()', parts.rows, `local claimNumber = numberArgument()
local from = argument()
local skip = numberArgument()
local looksMax = 1000
local found = call('ZRANGEBYSCORE', heldKey, from, '+inf', 'WITHSCORES', 'LIMIT', skip, looksMax)
local names = {}
local lastLease, lastCount = from, skip
for index = 1, #found, 2 do
if found[index] ~= '' then names[#names + 1] = found[index] end
if found[index + 1] == lastLease then
lastCount = lastCount + 1
else
lastLease = found[index + 1]
lastCount = 1
end
end
local replies = {}
for index, state in ipairs(readKeys(names)) do
if state.claim == claimNumber and state.token ~= 0 then
local key = names[index]
replies[#replies + 1] = key
local item = state.hasItem and call('HGET', itemsKey, key)
if state.hasItem and not item then lostItem(key) end
replies[#replies + 1] = item or ''
replies[#replies + 1] = string.format('%.17g %.17g %.17g %d %.17g %.17g %.17g %d', state.token,
state.claimedReady, state.claimedAsked, state.claimedPriority, state.failures, state.crashes, state.lease,
state.lease <= now and now < graceUntil and 1 or 0)
if state.claimedTrace then replies[#replies] = replies[#replies] .. ' ' .. state.claimedTrace end
end
end
local continues = ''
if #found == looksMax * 2 then
if found[2] ~= lastLease then lastCount = 0 end
continues = lastLease .. ' ' .. lastCount
end
return answer(continues, unpack(replies))`, 'end)()'].join('\n'),
  change: ['#!lua flags=allow-oom', parts.begin, 'return (function()', parts.rows, parts.writes, parts.pending, `local verb = argument()
local count = numberArgument()
local names = {}
for index = 1, count do names[index] = argument() end
local last = tonumber(argument() or 'inf')
local function unpark(state, number, forgets)
if not state.parked then return false end
state.parked = false
if forgets then forget(state) end
if state.token == 0 and state.due <= now then
state.ready = now
state.seq = number
end
return true
end
local function remove(state)
if state.seq > last then return false end
local hadPending = cancel(state)
local hadFailures = forget(state)
local wasParked = state.parked
state.parked = false
return hadPending or hadFailures or wasParked
end
local function change(state, number)
if verb == 'cancel' then return cancel(state) end
if verb == 'forget' then return forget(state) end
if verb == 'remove' then return remove(state) end
if verb == 'unpark' then return unpark(state, number, false) end
if verb == 'unpark-forget' then return unpark(state, number, true) end
if verb == 'park' then
local isNew = not state.parked
state.parked = true
return isNew
end
if state.due == inf or state.due <= now then return false end
setDue(state, now, WHY_ADD, number)
return true
end
local replies = {}
for index, state in ipairs(readKeys(names)) do
if isGone(state) and verb ~= 'cancel' and verb ~= 'forget' then
replies[index] = 2
else
replies[index] = change(state, seq + index) and 1 or 0
store(names[index], state)
end
end
if hasChanged then seq = seq + count end
write()
return answer(unpack(replies))`, 'end)()'].join('\n'),
  claim: ['#!lua flags=allow-oom', parts.begin, 'return (function()', parts.rows, parts.writes, parts.due, parts.leases, `local limit = numberArgument()
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
local position = hasMore and string.gsub(members[#names], '.', function(byte)
return string.format('%02x', string.byte(byte))
end)
return none(0, position or '')
end
local time = call('TIME')
local token = math.max(lastToken, time[1] * 1000000 + time[2])
local firstToken = token + 1
if token + #chosen > 9007199254740991 then
return redis.error_reply('SLUICETOKENS no token is left below 2^53, so no key can be claimed')
end
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
return answer(0, '', leases, firstToken, reply(leaseUntil), unpack(replies))`, 'end)()'].join('\n'),
  counts: ['#!lua flags=no-writes', parts.begin, 'return (function()', parts.rows, parts.counting, `checkDescription()
if not version then return answer(0, 'inf', 'inf', 0, 0, 0, 0, 0, 0, 0) end
local function answerWith(oldest, ...)
local lastLease = call('ZRANGE', heldKey, -2, -2, 'WITHSCORES')[2]
local heldUntil = lastLease and math.max(tonumber(lastLease), graceUntil) or inf
return answer(isPaused and 1 or 0, reply(oldest), reply(heldUntil), ...)
end
return answerWith(countStates())`, 'end)()'].join('\n'),
  drop: ['#!lua flags=allow-oom', parts.begin, 'return (function()', parts.rows, parts.writes, parts.pending, parts.transferRows, `local names, moved = readTransferRows()
local function isUnchanged(key, state, row)
if state.token ~= 0 then return false end
if row.item ~= (state.hasItem and call('HGET', itemsKey, key) or '') then return false end
if state.due ~= row.due or state.failures ~= row.failures or state.crashes ~= row.crashes
or state.failed ~= row.failed or state.parked ~= row.parked then return false end
if row.due == inf then return true end
return state.why == row.why and state.later == row.later
and (row.later == inf or state.laterWhy == row.laterWhy) and state.ready == row.ready
and state.seq == row.seq and state.priority == row.priority and state.asked == row.asked
and state.trace == row.trace
end
local replies = {}
for index, state in ipairs(readKeys(names)) do
local key = names[index]
if state.place == NONE then
replies[index] = 2
elseif not isUnchanged(key, state, moved[index]) then
replies[index] = 1
else
cancel(state)
forget(state)
state.parked = false
store(key, state)
replies[index] = 0
end
end
write()
return answer(unpack(replies))`, 'end)()'].join('\n'),
  expire: ['#!lua flags=allow-oom', parts.begin, 'return (function()', parts.rows, parts.writes, parts.pending, parts.givenBack, parts.plans, `local dedupe = argument()
local plan = readPlans()[1]
local jitter = numberArgument()
local maxCrashes = numberArgument()
local message = argument()
local count = numberArgument()
local names, tokens = {}, {}
for index = 1, count do
names[index] = argument()
tokens[index] = numberArgument()
end
local function expire(state, delayMs, number)
collapse(state)
countFailure(state)
if state.crashes < failuresMax then state.crashes = state.crashes + 1 end
state.trace = mergeTraces(state.claimedTrace, state.trace)
local lostAt = state.lease + delayMs
if state.due == inf then
setDue(state, lostAt, WHY_BACKOFF, number)
state.priority = state.claimedPriority
state.asked = state.claimedAsked
else
if state.claimedPriority > state.priority then state.priority = state.claimedPriority end
if state.due > now then
local due, why = state.due, state.why
local later = math.max(due, lostAt)
if dedupe == 'client-go' and later < state.later then
state.later = later
state.laterWhy = lostAt > due and WHY_BACKOFF or why
end
if lostAt < due then setDue(state, lostAt, WHY_BACKOFF, number) end
end
end
if state.crashes >= maxCrashes then state.parked = true end
return free(state, number) == PARKED_NOW and 1 or 0
end
local replies = {}
for index, state in ipairs(readKeys(names)) do
if state.token ~= tokens[index] or state.token == 0 or state.lease > now or now < graceUntil then
replies[index] = 2
else
local delayMs = plan and planDelay(plan, state.failures, {}, jitter) or 0
replies[index] = expire(state, delayMs, seq + index)
if message ~= '' then state.error = string.sub(message, 2) end
store(names[index], state)
end
end
if hasChanged then seq = seq + count end
write()
return answer(unpack(replies))`, 'end)()'].join('\n'),
  finish: ['#!lua flags=allow-oom', parts.begin, 'return (function()', parts.rows, parts.writes, parts.pending, parts.adding, parts.givenBack, parts.plans, `local dedupe = argument()
local plans = readPlans()
local count = numberArgument()
local first = at
local names = {}
for index = 1, count do names[index] = ARGV[first + index * 3 - 2] end
local stored = readAll('HMGET', rowsKey, names)
local function done(state, forgets, number)
if forgets then forget(state) end
state.crashes = 0
collapse(state)
return free(state, number)
end
local function addAgain(state, delayMs, why, priority, number)
state.crashes = 0
if delayMs > 0 then
addAfter(state, now + delayMs, why, priority, dedupe, number)
else
add(state, priority, dedupe, number)
end
return free(state, number)
end
local function retry(state, delayMs, priority, number)
countFailure(state)
state.trace = mergeTraces(state.claimedTrace, state.trace)
if priority == nil or priority == cjson.null then priority = state.claimedPriority end
return addAgain(state, delayMs, WHY_BACKOFF, priority, number)
end
local function release(state, number)
collapse(state)
local due, why, priority = state.due, state.why, state.priority
local priorityRose = due ~= inf and priority > state.claimedPriority
if due ~= inf and due > now then
local isSecond = dedupe == 'client-go' or state.claimedLater ~= inf
state.later = isSecond and due or inf
state.laterWhy = why
end
state.due = state.claimedDue
state.why = state.claimedWhy
state.asked = state.claimedAsked
state.trace = mergeTraces(state.claimedTrace, state.trace)
if priorityRose then
state.ready = now
state.seq = number
else
state.ready = state.claimedReady
state.seq = state.claimedSeq
state.priority = state.claimedPriority
end
state.token = 0
state.lease = inf
state.claimedTrace = nil
return resting(state)
end
local function park(state, hasFailed, number)
if hasFailed then countFailure(state) end
state.crashes = 0
state.parked = true
return release(state, number)
end
local replies = {}
local leavesHeld, leavesKeys = removed[heldKey], removed[keysKey]
for index = 1, count do
local key, tokenText, how = ARGV[first + index * 3 - 2], ARGV[first + index * 3 - 1], ARGV[first + index * 3]
local token = tonumber(tokenText)
local row = stored[index]
local flags = row and string.byte(row, 2)
local isBare = flags == IS_HELD or flags == IS_HELD + HAS_ITEM
if isBare and (how == 'd' or how == 'f') and #row >= 4 + heldLength - 1 and unpackRow('>I7', row, 4) == token then
deletedRows[#deletedRows + 1] = key
if flags ~= IS_HELD then deletedItems[#deletedItems + 1] = key end
leavesHeld[#leavesHeld + 1] = key
leavesKeys[#leavesKeys + 1] = key
hasChanged = true
replies[index] = 0
else
local state = decode(key, row)
if state.token ~= token or token == 0 then
replies[index] = LOST
else
local number = seq + index
local outcome
local reservations = {}
if how == 'd' or how == 'f' then
outcome = done(state, how == 'f', number)
elseif how == 'r' then
outcome = release(state, number)
else
local options = cjson.decode(how)
local message
if options[1] == 't' then
local delayMs = options[2]
message = options[5]
if options[3] ~= 0 then
delayMs = delayOfPlan(plans[options[3]], state.failures, options[4], reservations)
end
outcome = retry(state, delayMs, options[6], number)
elseif options[1] == 'a' then
message = cjson.null
if options[4] then forget(state) end
outcome = addAgain(state, options[2], WHY_DELAY, options[3], number)
else
message = options[2]
outcome = park(state, message ~= cjson.null, number)
end
state.error = message ~= cjson.null and message or nil
chargeBuckets(reservations)
end
store(key, state)
if outcome == IDLE_NOW and state.failures == 0 then
replies[index] = 0
else
replies[index] = string.format('%d %.17g %.17g', outcome, state.due, state.failures)
end
end
end
end
if hasChanged then seq = seq + count end
writeBuckets()
write()
return answer(unpack(replies))`, 'end)()'].join('\n'),
  history: ['#!lua flags=no-writes', parts.begin, 'return (function()', `local key = argument() == 'steps' and KEYS[16] or KEYS[17]
return answer(unpack(call('HGETALL', key)))`, 'end)()'].join('\n'),
  importBuckets: ['#!lua', parts.begin, 'return (function()', `local replies = {}
for index = 1, numberArgument() do
local name = argument()
replies[index] = call('HSETNX', bucketsKey, name, argument())
end
return answer(unpack(replies))`, 'end)()'].join('\n'),
  import: ['#!lua', parts.begin, 'return (function()', parts.rows, parts.writes, parts.pending, parts.transferRows, `local function pendingRunsOf(row)
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
local function mergePending(state, row)
if row.due == inf then return end
local wasPending = state.due ~= inf
local runs = pendingRunsOf(state)
for _, run in ipairs(pendingRunsOf(row)) do
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
if isReplay and hasChanged then seq = seq + 1 end
if seq >= (term + 1) * termSize then
term = math.floor(seq / termSize)
setScope('term', term)
end
write()
return answer(unpack(replies))`, 'end)()'].join('\n'),
  list: ['#!lua flags=no-writes', parts.begin, 'return (function()', parts.rows, `local bytesMax = numberArgument()
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
return answer(looked, names[math.abs(looked)] or '', unpack(replies))`, 'end)()'].join('\n'),
  overview: ['#!lua flags=no-writes', parts.begin, 'return (function()', `local withinMs = numberArgument()
local workers = {}
local all = call('HGETALL', workersKey)
for index = 1, #all, 2 do
local seen = string.match(all[index + 1], '^%S+ (%S+) ')
if seen and tonumber(seen) >= now - withinMs then workers[#workers + 1] = all[index + 1] end
end
local isThere = #workers > 0 or isPaused or call('HLEN', rowsKey) > 1
local late = call('ZCOUNT', heldKey, '-inf', now - 60000)
return answer(isThere and 1 or 0, late, workers)`, 'end)()'].join('\n'),
  pause: ['#!lua flags=allow-oom', parts.begin, 'return (function()', parts.rows, parts.writes, `local wanted = argument()
if wanted == (isPaused and '1' or '0') then
checkDescription()
return answer(0)
end
setMeta('paused', wanted)
write()
wake()
return answer(1)`, 'end)()'].join('\n'),
  purge: ['#!lua flags=allow-oom', parts.begin, 'return (function()', parts.rows, parts.writes, parts.pending, `if not version and call('HLEN', rowsKey) == 0 then return answer(0) end
if call('ZCARD', heldKey) > numberArgument() then return answer(-1) end
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
return answer(cleared)`, 'end)()'].join('\n'),
  renew: ['#!lua flags=allow-oom', parts.begin, 'return (function()', parts.rows, parts.writes, `local leaseUntil = now + numberArgument()
local count = numberArgument()
local names, tokens = {}, {}
for index = 1, count do
names[index] = argument()
tokens[index] = numberArgument()
end
local replies = {}
for index, state in ipairs(readKeys(names)) do
if state.token ~= tokens[index] or state.token == 0 then
replies[index] = ''
else
if leaseUntil > state.lease then
state.lease = leaseUntil
store(names[index], state)
end
replies[index] = reply(state.lease)
end
end
write()
return answer(unpack(replies))`, 'end)()'].join('\n'),
  tick: ['#!lua flags=allow-oom', parts.begin, 'return (function()', parts.history, `local holder = argument()
local worker = argument()
local limit = numberArgument()
local failuresExpireMs = numberArgument()
local workerMsMax = numberArgument()
local hasRecord = argument() == '1'
checkDescription()
if not version and worker == '' then return answer('inf', {}, 0) end
local registered = worker ~= '' and call('HGET', workersKey, holder)
local function register()
local started = registered and string.match(registered, '^(%S+) ') or string.format('%.17g', now)
call('HSET', workersKey, holder, started .. ' ' .. string.format('%.17g', now) .. ' ' .. worker)
end
if version and registered and (primary == '' or primary == lastPrimary) and ahead == storedAhead
and call('HLEN', rowsKey) == 1 then
if not isPaused and waitsUntil < inf then call('HSET', metaKey, 'waits', 'inf') end
call('HSET', scopeKey, 'latest', now)
register()
if hasRecord then addRecord(function() return isPaused and '0 0 0 0 0 0 1' or '0 0 0 0 0 0 0' end) end
return answer('inf', {}, 0)
end`, parts.rows, parts.writes, parts.leases, parts.counting, `local nextDue = inf
local firstLease = inf
local stale = {}
if version then
for _, key in ipairs({ delayedKey, backoffKey }) do
nextDue = math.min(nextDue, tonumber(call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]))
end
local firstReady = call('ZRANGE', readyKey, 0, 0)[1]
if firstReady ~= '' then
local key = string.sub(firstReady, readyHead + 1)
nextDue = math.min(nextDue, decode(key, call('HGET', rowsKey, key)).ready)
end
if isPaused then nextDue = inf end
firstLease = math.max(tonumber(call('ZRANGE', heldKey, 0, 0, 'WITHSCORES')[2]), graceUntil)
stale = call('ZRANGEBYSCORE', idleKey, '-inf', now - failuresExpireMs, 'LIMIT', 0, limit)
end
local nextAt = math.min(nextDue, firstLease)
local leases = firstLease <= now and expiredLeases(limit) or {}
for index, state in ipairs(readKeys(stale)) do
state.failures = 0
state.crashes = 0
store(stale[index], state)
end
local gone = {}
local lastSweep = worker ~= '' and not registered and (tonumber(call('HGET', workersKey, '')) or -inf)
local isSweep = lastSweep and now - lastSweep >= 60000
if isSweep then
local all = call('HGETALL', workersKey)
for index = 1, #all, 2 do
local seen = string.match(all[index + 1], '^%S+ (%S+) ')
if seen and tonumber(seen) < now - workerMsMax then gone[#gone + 1] = all[index] end
end
end
if worker ~= '' then hasChanged = true end
if not isPaused and nextAt > now and waitsUntil < nextAt then setMeta('waits', nextAt) end
write()
if worker ~= '' then
register()
writeAll('HDEL', workersKey, gone, 1000)
if isSweep then call('HSET', workersKey, '', string.format('%.17g', now)) end
end
if hasRecord then
addRecord(function()
local oldest, ready, delayed, backoff, processing, dirty, parked, idle = countStates()
local function capped(count) return math.min(count, historyDepthMax) end
local isCapped = math.max(ready, delayed, backoff, processing, dirty, parked, idle) > historyDepthMax
return string.format('%d %d %d %d %.17g %d %d', capped(ready), capped(delayed) + capped(backoff),
capped(processing) + capped(dirty), capped(parked), oldest == inf and 0 or math.max(0, now - oldest),
isCapped and 1 or 0, isPaused and 1 or 0)
end)
end
return answer(reply(nextAt), leases, #stale)`, 'end)()'].join('\n'),
  tokens: ['#!lua flags=allow-oom', parts.begin, 'return (function()', `local floor = numberArgument()
if floor > lastToken then call('HSET', scopeKey, 'token', floor) end
return answer()`, 'end)()'].join('\n'),
}
