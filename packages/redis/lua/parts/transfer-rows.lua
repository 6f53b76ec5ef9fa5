-- Rows as they move between stores, each four arguments: key, item or '', "=" and the error or '', and
-- "dueAt why laterAt laterWhy readyAt seq priority askedAt failures crashes failedAt parked", then for an
-- add that is replayed the last number that was drawn when it was acknowledged, and the id of the primary that
-- drew it, otherwise "- -", and the trace contexts.
local function readTransferRows()
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
end
