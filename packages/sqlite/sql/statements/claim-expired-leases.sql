-- Expired leases, the oldest first.
-- Parameters: queue, now, limit.
-- Why this plan: the start of the index; leases that have not expired cost nothing.
select key, token
from sluice_keys indexed by sluice_keys_held
where queue = +? and lease_until <= +? and token is not null
order by lease_until
limit +?
