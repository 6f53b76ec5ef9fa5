-- The body of add and of add_waiting.
--
-- One upsert locks the rows in the order of their keys. Its conflict branch sees the locked, latest
-- version of the row. Its WHERE is false if nothing would change, so adding a pending key again writes
-- no row. The expressions of the conflict branch are those of the transition table: "k.due_at <= t or
-- by_server and k.why = 0" is a run that is due already. With the server's clock, an add of another
-- transaction may have read a time slightly later than t and still have been first; that is no delay.
-- A clock that is given is exact.
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number(in_queue);
  t float8 := sluice.present(in_now, in_least);
  base bigint := nextval('sluice.arrival');
  by_server boolean := in_now is null;
  -- The rows that were written.
  n_keys text[]; changes smallint[]; dues float8[]; fails int[]; fresh bigint; wakes boolean;
begin
  if cardinality(in_keys) = 1 then
    -- Starting the upsert takes longer than all of this, and most keys that come alone are new. Not for
    -- several keys, which one statement has to lock in their order. The same as add-rows, without lists.
    insert into sluice.keys as k
      (queue_id, queue, key, item, due_at, ready_at, why, seq, priority, asked_at, change, trace)
    values (this_queue, in_queue, in_keys[1], in_items[1], t + greatest(in_delays[1], 0),
      t + greatest(in_delays[1], 0), (in_delays[1] > 0)::int, base + in_indexes[1], in_priorities[1],
      t, 4, in_traces[1])
    on conflict (queue_id, key) do nothing;
    if found then
      if in_channel is not null then perform pg_notify(in_channel, in_notice); end if;
      due_at := t;
      return next;
      return;
    end if;
  end if;
  with written as (
    -- @include add-rows
    on conflict (queue_id, key) do update set
      due_at = case
        when k.due_at <= t or by_server and k.why = 0 and k.due_at < 'Infinity' then k.due_at
        else least(k.due_at, excluded.due_at) end,
      why = case
        when k.due_at <= t or by_server and k.why = 0 and k.due_at < 'Infinity' then k.why
        when excluded.due_at < k.due_at then excluded.why
        else k.why end,
      ready_at = case
        when k.due_at <= t or by_server and k.why = 0 and k.due_at < 'Infinity' then
          case when excluded.priority > k.priority and k.token is null then t else k.ready_at end
        when excluded.due_at < k.due_at then excluded.due_at
        else k.ready_at end,
      seq = case
        when k.due_at = 'Infinity' or excluded.priority > k.priority then excluded.seq
        when k.due_at <= t or by_server and k.why = 0 then k.seq
        when excluded.due_at < k.due_at then excluded.seq
        else k.seq end,
      later_at = case
        when k.due_at = 'Infinity' then 'Infinity'
        when k.due_at <= t or by_server and k.why = 0 then
          case when in_twice and excluded.why > 0
            then least(excluded.due_at,
              case when k.later_at <= t then 'Infinity' else k.later_at end)
            else case when k.later_at <= t then 'Infinity' else k.later_at end end
        when in_twice and excluded.why = 0 then k.due_at
        else k.later_at end,
      later_why = case
        when k.due_at = 'Infinity' then 0
        when k.due_at <= t or by_server and k.why = 0 then
          case when in_twice and excluded.why > 0
            and (excluded.due_at < k.later_at or k.later_at <= t)
            then excluded.why else k.later_why end
        when in_twice and excluded.why = 0 then k.why
        else k.later_why end,
      priority = case
        when k.due_at = 'Infinity' then excluded.priority
        else greatest(k.priority, excluded.priority) end,
      asked_at = case when k.due_at = 'Infinity' then t else k.asked_at end,
      item = excluded.item,
      trace = case
        when k.due_at = 'Infinity' or k.trace is null then excluded.trace
        when excluded.trace is null or right(excluded.trace, 55) = right(k.trace, 55) then k.trace
        when right(excluded.trace, 55) = left(k.trace, 55) then left(k.trace, 55)
        else left(k.trace, 55) || ' ' || right(excluded.trace, 55) end,
      failures = case when k.due_at = 'Infinity' and k.token is null and not k.parked
        and k.failed_at + in_expire <= t then 0 else k.failures end,
      crashes = case when k.due_at = 'Infinity' and k.token is null and not k.parked
        and k.failed_at + in_expire <= t then 0 else k.crashes end,
      failed_at = case when k.due_at = 'Infinity' and k.token is null and not k.parked
        and k.failed_at + in_expire <= t then null else k.failed_at end,
      change = case
        when k.parked and k.token is null then 3
        when k.due_at = 'Infinity' then 1
        when k.due_at <= t or by_server and k.why = 0 then
          case
            when in_twice and excluded.why > 0 and (k.later_at <= t or k.later_at = 'Infinity')
              then 1
            when in_twice and excluded.why > 0 and excluded.due_at < k.later_at then 2
            when excluded.priority > k.priority then 2
            else 0 end
        when excluded.why = 0 then
          case when in_twice and k.later_at = 'Infinity' then 1 else 2 end
        when excluded.due_at < k.due_at or excluded.priority > k.priority then 2
        else 0 end
    where k.due_at = 'Infinity'
      or excluded.priority > k.priority
      or k.item is distinct from excluded.item
      or excluded.trace is not null
        and (k.trace is null or right(excluded.trace, 55) <> right(k.trace, 55))
      or case when k.due_at <= t or by_server and k.why = 0
        then k.later_at <= t
          or in_twice and excluded.why > 0 and excluded.due_at < k.later_at
        else excluded.due_at < k.due_at end
    returning k.key, k.change, k.due_at, k.failures
  )
  select array_agg(w.key), array_agg(w.change), array_agg(w.due_at), array_agg(w.failures),
    count(*) filter (where w.change = 4), bool_or(w.change in (1, 2, 4))
  into n_keys, changes, dues, fails, fresh, wakes
  from written w;
  if wakes and in_channel is not null then perform pg_notify(in_channel, in_notice); end if;
  due_at := t;
  return next;
  if fresh < cardinality(in_keys) then
    return query select w.key, w.change::int, w.due_at, w.failures
      from unnest(n_keys, changes, dues, fails) as w(key, change, due_at, failures);
  end if;
  if coalesce(cardinality(n_keys), 0) < cardinality(in_keys) then
    return query
      -- The offset keeps it a look-up for each key; "any" may read all of the queue on an old server.
      select k.key, case when k.parked and k.token is null then 3 else 0 end, k.due_at, k.failures
      from unnest(in_keys) as i(key) cross join lateral (
        select x.* from sluice.keys x where x.queue_id = this_queue and x.key = i.key offset 0) k;
  end if;
end
