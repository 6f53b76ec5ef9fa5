-- Whether there is something to sweep.
-- Parameters: queue, instant up to which failures have expired.
-- Why this plan: the start of the index.
select 1 as found
from sluice_keys indexed by sluice_keys_idle
where queue = +? and failed_at <= +? and token is null and parked = 0 and due_at is null
limit 1
