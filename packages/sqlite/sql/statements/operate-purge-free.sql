-- Deletes every key of a queue that is not held.
-- Parameters: queue.
-- Why this plan: all keys of the queue have to be visited anyway.
delete from sluice_keys
where queue = +? and token is null
