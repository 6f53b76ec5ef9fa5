-- Adds a failed run.
-- Parameters: queue, at, key, code, holder, failures, last_error.
insert into sluice_failed_runs (queue, at, key, code, holder, failures, last_error)
values (?, ?, ?, ?, ?, ?, ?)
