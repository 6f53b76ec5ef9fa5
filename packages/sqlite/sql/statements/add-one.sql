-- Adds a key of which nothing is stored; changes nothing if it is stored already.
-- Parameters: queue, key, due_at, due_why, ready_at (= due_at), seq, priority, asked_at, item, trace.
insert into sluice_keys (queue, key, due_at, due_why, ready_at, seq, priority, asked_at, item, trace)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (queue, key) do nothing
