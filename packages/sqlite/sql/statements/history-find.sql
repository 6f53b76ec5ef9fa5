-- The current steps of the history of a queue, one of each length.
-- Parameters: a JSON array of pairs [step_ms, at], queue.
-- Why this plan: each by primary key.
select h.*
from json_each(?) j
cross join sluice_history h
where h.queue = +? and h.step_ms = j.value ->> 0 and h.at = j.value ->> 1
