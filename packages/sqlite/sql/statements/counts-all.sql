-- How many keys wait, how many of them can be claimed and how many are in back-off, and when the first of
-- them is ready; how many are held, how many of those were added again, and when the last of their leases
-- ends (null: never); how many are parked; and of how many only a failure count is stored. Each is counted up to a cap.
-- Parameters: now, backoff, now, queue, cap of those that wait; now, queue, cap; queue, cap; queue, cap.
-- Why this plan: each kind of key has an index, which is read up to the cap.
select
  waiting.n as waiting, waiting.ready, waiting.backoff, waiting.first_at,
  held.n as held, held.dirty, held.until, parked.n as parked, idle.n as idle
from (
  select
    count(*) as n, min(ready_at) as first_at, coalesce(sum(ready_at <= +?), 0) as ready,
    coalesce(sum(due_why = +? and ready_at > +?), 0) as backoff
  from (
    select ready_at, due_why
    from sluice_keys indexed by sluice_keys_waiting
    where queue = +? and token is null and parked = 0 and due_at is not null
    limit +?
  )
) waiting
cross join (
  select count(*) as n, coalesce(sum(is_dirty), 0) as dirty,
    case when count(lease_until) = count(*) then max(lease_until) end as until
  from (
    select coalesce(next_due_at <= +?, 0) as is_dirty, lease_until
    from sluice_keys indexed by sluice_keys_held
    where queue = +? and token is not null
    limit +?
  )
) held
cross join (
  select count(*) as n
  from (
    select 1
    from sluice_keys indexed by sluice_keys_parked
    where queue = +? and token is null and parked = 1
    limit +?
  )
) parked
cross join (
  select count(*) as n
  from (
    select 1
    from sluice_keys indexed by sluice_keys_idle
    where queue = +? and token is null and parked = 0 and due_at is null
    limit +?
  )
) idle
