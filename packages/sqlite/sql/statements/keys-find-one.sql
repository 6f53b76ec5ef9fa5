-- Everything that is stored of one key.
-- Parameters: queue, key.
-- Why this plan: one look into the unique index on (queue, key).
select
  id, key, due_at, due_why, later_at, later_why, ready_at, seq, priority, asked_at,
  token, lease_until, holder, claim,
  next_due_at, next_why, next_seq, next_priority, next_asked_at, next_later_at, next_later_why,
  failures, crashes, failed_at, parked, item, last_error, trace, next_trace
from sluice_keys
where queue = +? and key = +?
