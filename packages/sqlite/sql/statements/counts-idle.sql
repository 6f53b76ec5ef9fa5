-- How many keys are idle, up to a cap: only a failure count of them is stored.
-- Parameters: queue, cap.
-- Why this plan: its own index, up to the cap.
select count(*) as n
from (
  select 1
  from sluice_keys indexed by sluice_keys_idle
  where queue = +? and token is null and parked = 0 and due_at is null
  limit +?
)
