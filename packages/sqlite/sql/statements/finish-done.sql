-- Deletes a key that is done, if nothing else is stored of it.
-- Parameters: queue, key, token.
-- Why this plan: one look into the unique index on (queue, key).
delete from sluice_keys
where
  queue = +? and key = +? and token = +?
  and next_due_at is null and failures = 0 and parked = 0
