-- Writes back the counters of a queue after a transaction, and raises `work`.
-- Parameters: seq, pending, id.
-- Why this plan: by rowid.
update sluice_queues
set seq = ?, pending = ?, work = work + 1
where id = +?
