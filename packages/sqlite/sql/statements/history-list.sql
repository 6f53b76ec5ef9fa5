-- The steps of one length of the history of a queue, after an instant.
-- Parameters: queue, step_ms, instant.
-- Why this plan: a range of the primary key.
select
  step_ms, at, started, done, failed, added, merged, expired,
  ready, delayed, held, parked, oldest_ms, capped, paused, codes
from sluice_history
where queue = +? and step_ms = +? and at > +?
order by at
