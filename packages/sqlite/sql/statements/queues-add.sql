-- Inserts the row of a queue that is written to for the first time.
-- Parameters: name.
insert into sluice_queues (name)
values (?)
