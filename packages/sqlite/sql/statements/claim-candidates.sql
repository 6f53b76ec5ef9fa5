-- The keys of one priority that can be claimed, in the order of claims.
-- Parameters: queue, priority, now, bound, limit.
-- The bound is now, or an earlier instant by which keys have to be due.
-- Why this plan: a range of the index in its own order. It ends at now, so that keys which are due
-- later cost nothing, however many there are. No pending key is ready later than it is due, unless
-- that is past: `ready_at` is the later of `due_at` and the instant at which the key was released.
select id, key, item, failures, crashes, priority, asked_at, ready_at, later_at, trace
from sluice_keys indexed by sluice_keys_waiting
where
  queue = +? and priority = +? and ready_at <= +? and due_at <= +?
  and token is null and parked = 0 and due_at is not null
order by ready_at, seq
limit +?
