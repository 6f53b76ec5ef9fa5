-- How many keys of one priority are due later, by reason, up to a cap for both together.
-- Parameters: queue, priority, now, cap.
-- Why this plan: a range of the index that ends at the cap; the index has every column that is read.
select due_why, count(*) as n
from (
  select due_why
  from sluice_keys indexed by sluice_keys_waiting
  where
    queue = +? and priority = +? and ready_at > +?
    and token is null and parked = 0 and due_at is not null
  order by ready_at, seq
  limit +?
)
group by due_why
