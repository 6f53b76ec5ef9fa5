-- The distinct priorities of waiting keys, each with the instant at which its first key is ready: by
-- single steps on the index keys_waiting, however many keys wait. The argument is a condition on the
-- first step; where it is false there are no levels.
levels (priority, first_at) as (
  (select k.priority, k.ready_at from sluice.keys k
  where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
    -- @argument
  order by k.priority desc, k.ready_at, k.seq limit 1)
  union all
  select x.priority, x.ready_at from levels l cross join lateral (
    select k.priority, k.ready_at from sluice.keys k
    where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
      and k.priority < l.priority
    order by k.priority desc, k.ready_at, k.seq limit 1) x
)
