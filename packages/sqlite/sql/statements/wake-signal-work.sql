-- How much work was done in all queues: a number that heartbeats and renewals leave alone.
-- Why this plan: the whole table, a hundred queues a page. Kept in one row of its own, the number
-- would cost every add one more page of the log.
select total(work) as work
from sluice_queues
