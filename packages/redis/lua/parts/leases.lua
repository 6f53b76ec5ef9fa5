-- Expired leases, at most `limit` of them: key, token, key, token, ...
local function expiredLeases(limit)
  -- A server that has just become the primary may have missed renewals.
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
end
