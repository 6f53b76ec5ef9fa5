-- How many keys of one priority can be claimed, up to a cap.
-- Parameters: queue, priority, now, cap.
-- Why this plan: a range of the index that ends at the cap; the index has every column that is read.
select count(*) as n
from (
  select 1
  from sluice_keys indexed by sluice_keys_waiting
  where
    queue = +? and priority = +? and ready_at <= +?
    and token is null and parked = 0 and due_at is not null
  limit +?
)
