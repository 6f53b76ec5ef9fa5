-- Removes the pending runs, counters and parked marks of the held keys of a queue.
-- Parameters: queue.
-- Why this plan: the held keys of the queue, which are few.
update sluice_keys
set
  next_due_at = null, next_why = null, next_seq = null, next_priority = null,
  next_asked_at = null, next_later_at = null, next_later_why = null, next_trace = null,
  failures = 0, crashes = 0, failed_at = null, parked = 0
where
  queue = +? and token is not null
  and (next_due_at is not null or failures > 0 or crashes > 0 or parked = 1)
