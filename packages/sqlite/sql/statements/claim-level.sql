-- The next lower priority that has pending keys, and when the first of them is ready.
-- Parameters: queue, priority below which to look.
-- Why this plan: one step down the index; other keys of the same priority are skipped, however many there are.
select priority, ready_at
from sluice_keys indexed by sluice_keys_waiting
where
  queue = +? and priority < +?
  and token is null and parked = 0 and due_at is not null
order by priority desc, ready_at, seq
limit 1
