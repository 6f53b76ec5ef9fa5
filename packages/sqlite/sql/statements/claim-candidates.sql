-- The keys of one priority that can be claimed, in the order of claims.
-- Parameters: queue, priority, horizon, bound, limit.
-- The horizon is now, or later if the clock went back: up to it a key may be ready later than due.
-- Why this plan: a range of the index in its own order. It ends at the horizon, so that keys which
-- are due later cost nothing, however many.
select id, key, item, failures, crashes, priority, asked_at, ready_at, later_at
from sluice_keys indexed by sluice_keys_waiting
where
  queue = +? and priority = +? and ready_at <= +? and due_at <= +?
  and token is null and parked = 0 and due_at is not null
order by ready_at, seq
limit +?
