-- Deletes the workers of a queue that were not seen since an instant.
-- Parameters: queue, instant.
-- Why this plan: the workers of one queue are few and stand together.
delete from sluice_workers
where queue = +? and seen_at < +?
