-- Deletes some keys of a queue that are not held.
-- Parameters: queue, last position, limit.
-- Why this plan: all keys of the queue have to be visited anyway, in as many steps as that takes.
delete from sluice_keys
where id in (
  select id from sluice_keys where queue = +? and token is null and (seq is null or seq <= +?) limit +?
)
