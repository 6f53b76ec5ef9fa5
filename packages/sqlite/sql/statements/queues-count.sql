-- Counts the pending keys of a queue.
-- Parameters: queue.
-- Why this plan: all keys of the queue, once: from then on the number is stored.
select count(case when token is null then due_at else next_due_at end) as pending
from sluice_keys
where queue = +?
