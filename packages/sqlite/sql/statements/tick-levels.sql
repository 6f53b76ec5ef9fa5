-- Every priority that has pending keys, from the highest down, and when its first key is ready.
-- Parameters: queue, queue.
-- Why this plan: one step down the index for each priority; other keys of the same priority are
-- skipped, however many there are.
with recursive level (priority, ready_at) as (
  select *
  from (
    select priority, ready_at
    from sluice_keys indexed by sluice_keys_waiting
    where queue = +? and token is null and parked = 0 and due_at is not null
    order by priority desc, ready_at, seq
    limit 1
  )
  union all
  select k.priority, k.ready_at
  from level
  cross join sluice_keys k
  where k.id = (
    select id
    from sluice_keys indexed by sluice_keys_waiting
    where
      queue = +? and priority < level.priority
      and token is null and parked = 0 and due_at is not null
    order by priority desc, ready_at, seq
    limit 1
  )
)
select priority, ready_at
from level
