-- Writes back what a transaction has drawn from its queue's row, and that it did work.
-- Parameters: seq, owed, id.
-- Why this plan: by rowid.
update sluice_queues
set seq = ?, owed = ?, work = work + 1
where id = +?
