-- The same for keys with items.
-- Parameters: as in add-keys, with a JSON array of pairs [key, item] at the end.
insert into sluice_keys (queue, key, due_at, due_why, ready_at, seq, priority, asked_at, trace, item)
select ?, j.value ->> 0, t.due_at, ?, t.due_at, ? + j.key, ?, ?, ?, j.value ->> 1
from (select ? as due_at) t
cross join json_each(?) j
where true
on conflict (queue, key) do nothing
