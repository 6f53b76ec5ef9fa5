-- When the first waiting key is due, by looking at all of them.
-- Parameters: queue.
-- Why this plan: asked only while the clock is behind what it was; then a key may be due before it
-- is ready, and the index is not in the order that matters.
select min(due_at) as due_at
from sluice_keys indexed by sluice_keys_waiting
where queue = +? and token is null and parked = 0 and due_at is not null
