-- Rows as they move between stores, each four arguments: key, item or '', error or '', and
-- "dueAt why laterAt laterWhy readyAt seq priority askedAt failures crashes failedAt parked", and for an add
-- that is replayed the last number that was drawn when it was acknowledged.
local function readTransferRows()
  local names, moved = {}, {}
  for index = 1, numberArgument() do
    names[index] = argument()
    local row = { item = argument(), error = argument() }
    local numbers = {}
    for text in string.gmatch(argument(), '%S+') do numbers[#numbers + 1] = tonumber(text) end
    row.due, row.why, row.later, row.laterWhy, row.ready, row.seq, row.priority, row.asked, row.failures,
      row.crashes, row.failed, row.parked, row.lastSeq = unpack(numbers)
    row.parked = row.parked == 1
    moved[index] = row
  end
  return names, moved
end
