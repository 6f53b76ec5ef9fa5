-- The workers of a queue that were seen since an instant.
-- Parameters: queue, instant.
-- Why this plan: the workers of one queue are few and stand together.
select holder, info, started_at, seen_at
from sluice_workers
where queue = +? and seen_at >= +?
