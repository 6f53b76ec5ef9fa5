-- Adds keys without items that all have the same options; skips keys that are stored already.
-- Parameters: queue, due_why, seq of the first, priority, asked_at, trace, due_at, keys as a JSON array.
-- Why this plan: the array is read in its order, which is the order of arrival. One statement for a
-- thousand keys costs half as much as a thousand statements.
insert into sluice_keys (queue, key, due_at, due_why, ready_at, seq, priority, asked_at, trace)
select ?, j.value, t.due_at, ?, t.due_at, ? + j.key, ?, ?, ?
from (select ? as due_at) t
cross join json_each(?) j
where true
on conflict (queue, key) do nothing
