-- Writes back the number of pending keys of a queue.
-- Parameters: pending, id.
-- Why this plan: by rowid.
update sluice_queues
set pending = ?
where id = +?
