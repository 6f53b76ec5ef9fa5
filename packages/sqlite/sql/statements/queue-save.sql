-- Writes back what a transaction has drawn from its queue's row.
-- Parameters: seq, owed, latest_at, id.
-- Why this plan: by rowid.
update sluice_queues
set seq = ?, owed = ?, latest_at = ?
where id = +?
