-- Writes back what a transaction has drawn from its queue's row.
-- Parameters: seq, owed, id.
-- Why this plan: by rowid.
update sluice_queues
set seq = ?, owed = ?
where id = +?
