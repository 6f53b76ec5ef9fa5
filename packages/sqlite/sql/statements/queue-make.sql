-- Makes the row of a queue that is written to for the first time.
-- Parameters: name, now.
insert into sluice_queues (name, latest_at)
values (?, ?)
