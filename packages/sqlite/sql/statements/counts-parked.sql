-- How many keys are parked, up to a cap.
-- Parameters: queue, cap.
-- Why this plan: its own index, up to the cap.
select count(*) as n
from (
  select 1
  from sluice_keys indexed by sluice_keys_parked
  where queue = +? and token is null and parked = 1
  limit +?
)
