-- The sum of `work` of all queues, which heartbeats and renewals do not change.
-- Why this plan: the whole table, with about a hundred queues per page. A row of its own for the sum
-- would cost every add one more page of the log.
select total(work) as work
from sluice_queues
