-- Deletes idle keys whose failures have expired, a bounded number of them.
-- Parameters: queue, instant up to which failures have expired, limit.
-- Why this plan: the start of their own index. The rows are selected and deleted in one statement.
delete from sluice_keys
where id in (
  select id
  from sluice_keys indexed by sluice_keys_idle
  where queue = +? and failed_at <= +? and token is null and parked = 0 and due_at is null
  order by failed_at
  limit +?
)
