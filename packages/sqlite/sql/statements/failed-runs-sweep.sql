-- Deletes the failed runs of a queue that are too old, or too many of their code.
-- Parameters: queue, instant, how many to keep of a code.
-- Why this plan: the failed runs of one queue are few and stand together.
delete from sluice_failed_runs
where id in (
  select id from (
    select id, at, row_number() over (partition by code order by at desc, id desc) as rank
    from sluice_failed_runs
    where queue = +?
  )
  where at <= +? or rank > +?
)
