-- The same for a finish that also forgets the failures of the key.
-- Parameters: queue, key, token.
-- Why this plan: one look into the unique index on (queue, key).
delete from sluice_keys
where queue = +? and key = +? and token = +? and next_due_at is null and parked = 0
