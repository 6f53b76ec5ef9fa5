-- Everything that is stored of several keys; those of which nothing is stored are missing.
-- Parameters: keys as a JSON array, queue.
-- Why this plan: the array outside, for each key one look into the unique index. "cross join" keeps
-- the planner from turning that around.
select
  k.id, k.key, k.due_at, k.due_why, k.later_at, k.later_why, k.ready_at, k.seq, k.priority,
  k.asked_at, k.token, k.lease_until, k.holder, k.claim,
  k.next_due_at, k.next_why, k.next_seq, k.next_priority, k.next_asked_at, k.next_later_at,
  k.next_later_why, k.failures, k.crashes, k.failed_at, k.parked, k.item, k.last_error,
  k.trace, k.next_trace
from json_each(?) j
cross join sluice_keys k on k.queue = +? and k.key = j.value
