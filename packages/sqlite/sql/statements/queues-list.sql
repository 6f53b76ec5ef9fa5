-- The names of queues that have keys, are paused, or have a worker that was seen since an instant.
-- Parameter: instant. The workers of a queue are deleted by the next one of it, and there may be none.
-- Why this plan: the queues are few, and one look at the start of the keys of each is enough.
select name
from sluice_queues q
where paused = 1
  or exists (select 1 from sluice_keys k where k.queue = q.id)
  or exists (select 1 from sluice_workers where queue = q.id and seen_at >= +?)
order by name
