-- Deletes the failed runs of a queue that are too old, too many of their code, or too many.
-- Parameters: queue, queue, instant, how many to keep of a code, how many to keep.
-- Why this plan: the failed runs of one queue are few and stand together.
delete from sluice_failed_runs
where queue = +? and id not in (
  select id
  from (
    select id, at, row_number() over (partition by code order by at desc, id desc) as rank
    from sluice_failed_runs
    where queue = +?
  )
  where at > +? and rank <= +?
  order by at desc, id desc
  limit +?
)
