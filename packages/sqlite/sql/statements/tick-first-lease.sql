-- When the first lease ends.
-- Parameters: queue.
-- Why this plan: the start of the index.
select lease_until
from sluice_keys indexed by sluice_keys_held
where queue = +? and token is not null and lease_until is not null
order by lease_until
limit 1
