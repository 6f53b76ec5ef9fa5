-- One step of the history of a queue.
-- Parameters: queue, step_ms, at.
-- Why this plan: by primary key.
select * from sluice_history
where queue = +? and step_ms = +? and at = +?
