-- The next queue in the order of their numbers, if none of its workers was seen since an instant.
-- Parameters: queue, instant.
-- Why this plan: the next queue by primary key, whose workers are few.
select n.queue
from (
  select coalesce((select min(queue) from sluice_workers where queue > +?), (select min(queue) from sluice_workers)) as queue
) n
where not exists (select 1 from sluice_workers w where w.queue = n.queue and w.seen_at >= +?)
