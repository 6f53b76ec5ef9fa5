-- Deletes all but the newest failed runs of a queue.
-- Parameters: queue, how many to keep.
-- Why this plan: the failed runs of one queue are few and stand together.
delete from sluice_failed_runs
where id in (
  select id from sluice_failed_runs
  where queue = +?
  order by at desc, id desc
  limit -1 offset ?
)
