-- Deletes the steps of one length that began at or before an instant.
-- Parameters: queue, step_ms, instant.
-- Why this plan: a range of the primary key.
delete from sluice_history
where queue = +? and step_ms = +? and at <= +?
