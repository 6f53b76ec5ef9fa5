#!lua flags=no-writes
-- Looks for the claims of a request among the held keys, a number of them at a time.
--
-- Arguments: number of the request, the end of the last lease that was looked at or '-inf', how many
-- to skip of those that end then.
-- Reply: where to continue ("lease skip") or '', then for each claim its key, item, and
-- "token readyAt askedAt priority failures crashes leaseUntil hasEnded" and the trace contexts; hasEnded is 1
-- for a lease that has ended while another server became the primary.
-- @include begin
-- @include rows
local claimNumber = numberArgument()
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
  -- From the first of those that end last: if some of them are finished meanwhile, what to skip is not known.
  if found[2] ~= lastLease then lastCount = 0 end
  continues = lastLease .. ' ' .. lastCount
end
return answer(continues, unpack(replies))
