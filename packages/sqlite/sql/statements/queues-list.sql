-- The names of queues that have keys, are paused, or have a worker on record.
-- Why this plan: the queues are few, and one look at the start of the keys of each is enough.
select q.name
from sluice_queues q
where q.paused = 1
  or exists (select 1 from sluice_keys k where k.queue = q.id)
  or exists (select 1 from sluice_workers w where w.queue = q.id)
order by q.name
