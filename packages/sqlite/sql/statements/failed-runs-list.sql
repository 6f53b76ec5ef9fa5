-- The failed runs of a queue after an instant, newest first.
-- Parameters: queue, instant.
-- Why this plan: a range of the index; there are few.
select at, key, code, holder, failures, last_error
from sluice_failed_runs
where queue = +? and at > +?
order by at desc, id desc
