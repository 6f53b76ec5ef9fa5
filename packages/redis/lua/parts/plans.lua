-- The delays of limiter plans, and the token buckets that they charge: packages/core/src/limiter/ and
-- packages/core/src/driver/token-buckets.ts. Delays are computed in whole nanoseconds.
local delayNsMax = 315576000000 * 1e6
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
  -- Zero doubled any number of times is zero, but zero times infinity is not a number.
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

-- The finite buckets of a plan, by name.
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

-- Takes one token: how long until it is there, and the tokens that are left.
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

-- The delay that a plan gives; `reservations` gets what chargeBuckets takes if the delay is used.
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

-- The plans that a batch refers to by their numbers.
local function readPlans()
  local plans = {}
  for index = 1, numberArgument() do plans[index] = cjson.decode(argument()) end
  return plans
end
