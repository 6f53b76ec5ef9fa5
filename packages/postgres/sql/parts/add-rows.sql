-- Inserts the keys of an add.
insert into sluice.keys as k
  (queue_id, queue, key, item, due_at, ready_at, why, seq, priority, asked_at, change, trace)
select this_queue, in_queue, i.key, i.item, t + greatest(i.delay, 0), t + greatest(i.delay, 0),
  (i.delay > 0)::int, base + i.index, i.priority, t, 4, i.trace
from unnest(in_keys, in_items, in_priorities, in_delays, in_indexes, in_traces)
  as i(key, item, priority, delay, index, trace)
