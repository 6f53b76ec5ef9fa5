-- The heartbeat: registers a worker, reports expired leases, says when to look again, sweeps,
-- and notes the present, at most every nine seconds in the whole store.
--
-- Rows: kind 0 (the store's time, the next instant, whether paused, how many were swept), 2 (a lease
-- that is over). The next instant is read off the front of the index at each priority.
create function sluice.tick(
  in_queue text, in_holder text, in_host text, in_pid int, in_concurrency int, in_info text,
  in_limit int, in_expire float8, in_now float8, in_least float8
) returns table (
  kind int, now float8, next_at float8, paused boolean, swept int, key text, token bigint
) language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number(in_queue);
  t float8 := sluice.present(in_now, in_least);
  is_paused boolean; gone int; lease_at float8; due_at float8 := 'Infinity';
begin
  if in_now is null and t - 9000 > pg_sequence_last_value('sluice.latest') / 1000.0::float8 then
    perform setval('sluice.latest', (t * 1000)::bigint);
  end if;
  if in_host is not null then
    insert into sluice.workers as w
      (queue, holder, host, pid, concurrency, info, started_at, seen_at)
    values (in_queue, in_holder, in_host, in_pid, in_concurrency, in_info, t, t)
    on conflict (queue, holder) do update set host = excluded.host, pid = excluded.pid,
      concurrency = excluded.concurrency, info = excluded.info, seen_at = excluded.seen_at;
    delete from sluice.workers w where w.queue = in_queue and w.seen_at < t - 86400000;
  end if;
  delete from sluice.keys k where k.ctid = any (array(
    select x.ctid from sluice.keys x
    where x.queue_id = this_queue and x.token is null and not x.parked and x.due_at = 'Infinity'
      and x.failed_at is not null and x.failed_at <= t - in_expire and x.failed_at + in_expire <= t
    order by x.failed_at limit in_limit for update skip locked))
    and k.token is null and not k.parked and k.due_at = 'Infinity';
  get diagnostics gone = row_count;
  is_paused := exists (select from sluice.queues q where q.name = in_queue and q.paused);
  select min(k.lease_until) into lease_at from sluice.keys k
  where k.queue_id = this_queue and k.token is not null;
  if not is_paused then
    with recursive levels (priority, first_at) as (
      (select k.priority, k.ready_at from sluice.keys k
      where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
      order by k.priority desc, k.ready_at, k.seq limit 1)
      union all
      select x.priority, x.ready_at from levels l cross join lateral (
        select k.priority, k.ready_at from sluice.keys k
        where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
          and k.priority < l.priority
        order by k.priority desc, k.ready_at, k.seq limit 1) x
    )
    select min(l.first_at) into due_at from levels l;
  end if;
  return query select 0, t, least(lease_at, due_at, 'Infinity'), is_paused, gone, null::text,
    null::bigint;
  return query select 2, null::float8, null::float8, null::boolean, null::int, k.key,
    k.token
  from sluice.keys k where k.queue_id = this_queue and k.token is not null and k.lease_until <= t
  limit in_limit;
end
$body$;

-- Counts keys by state, looking at in_cap and one more of each.
create function sluice.counts(in_queue text, in_cap int, in_now float8, in_least float8) returns table (
  now float8, ready int, delayed int, backoff int, processing int, dirty int, parked int, idle int,
  paused boolean, oldest float8, capped boolean
) language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number(in_queue);
  t float8 := sluice.present(in_now, in_least);
  n_ready int; n_delayed int; n_backoff int; n_processing int; n_dirty int; n_parked int;
  n_idle int; first_ready float8;
begin
  with recursive levels (priority, first_at) as (
    (select k.priority, k.ready_at from sluice.keys k
    where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
    order by k.priority desc, k.ready_at, k.seq limit 1)
    union all
    select x.priority, x.ready_at from levels l cross join lateral (
      select k.priority, k.ready_at from sluice.keys k
      where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
        and k.priority < l.priority
      order by k.priority desc, k.ready_at, k.seq limit 1) x
  )
  select
    (select count(*) from (select from levels l cross join lateral (
      select from sluice.keys k
      where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
        and k.priority = l.priority and k.ready_at <= t
      order by k.ready_at, k.seq limit in_cap + 1) x
    limit in_cap + 1) y),
    (select min(l.first_at) from levels l where l.first_at <= t)
  into n_ready, first_ready;
  with recursive levels (priority) as (
    (select k.priority from sluice.keys k
    where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
    order by k.priority desc, k.ready_at, k.seq limit 1)
    union all
    select x.priority from levels l cross join lateral (
      select k.priority from sluice.keys k
      where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
        and k.priority < l.priority
      order by k.priority desc, k.ready_at, k.seq limit 1) x
  )
  select count(*) filter (where y.why <> 2), count(*) filter (where y.why = 2)
  into n_delayed, n_backoff
  from (select x.why from levels l cross join lateral (
    select k.why from sluice.keys k
    where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
      and k.priority = l.priority and k.ready_at > t
    order by k.ready_at, k.seq limit 2 * in_cap + 1) x
  limit 2 * in_cap + 1) y;
  select count(*) filter (where x.due_at > t), count(*) filter (where x.due_at <= t)
  into n_processing, n_dirty
  from (select k.due_at from sluice.keys k
    where k.queue_id = this_queue and k.token is not null limit 2 * in_cap + 1) x;
  select count(*) into n_parked from (select from sluice.keys k
    where k.queue_id = this_queue and k.token is null and k.parked limit in_cap + 1) x;
  select count(*) into n_idle from (select from sluice.keys k
    where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at = 'Infinity'
      and k.failed_at is not null limit in_cap + 1) x;
  return query select t, least(n_ready, in_cap), least(n_delayed, in_cap),
    least(n_backoff, in_cap), least(n_processing, in_cap), least(n_dirty, in_cap),
    least(n_parked, in_cap), least(n_idle, in_cap),
    exists (select from sluice.queues q where q.name = in_queue and q.paused),
    coalesce(first_ready, 'Infinity'),
    greatest(n_ready, n_delayed, n_backoff, n_processing, n_dirty, n_parked, n_idle) > in_cap;
end
$body$;

-- A page of keys in the order of their bytes, after in_after, at the most in_limit of the state
-- wanted (null: all), looking at no more than in_look. The last row has only the key at which the
-- next page begins; null if there is none. States: 0 ready, 1 delayed, 2 backoff, 3 processing,
-- 4 dirty, 5 parked, 6 idle.
create function sluice.list(
  in_queue text, in_keys text[], in_state int, in_prefix text, in_after text, in_limit int,
  in_look int, in_now float8, in_least float8
) returns table (now float8, next text, word int, state sluice.keys) language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number(in_queue);
  t float8 := sluice.present(in_now, in_least);
  one sluice.keys; is_state int; matched int := 0; looked int := 0; last text; has_more boolean := false;
  cur refcursor;
begin
  if in_keys is not null then
    open cur for select k.* from unnest(in_keys) as i(key) cross join lateral (
      select x.* from sluice.keys x where x.queue_id = this_queue and x.key = i.key offset 0) k;
  elsif in_state in (3, 4) then
    -- In the order of its keys by sorting: there is never more of it than workers can hold.
    open cur for select x.* from unnest(array(
        select h.ctid from (
          select k.ctid, k.key from sluice.keys k
          where k.queue_id = this_queue and k.token is not null
          order by k.queue_id, k.token offset 0) h
        where h.key > in_after and h.key >= in_prefix
      )) as i(ctid)
      join sluice.keys x on x.ctid = i.ctid order by x.key;
  elsif in_state = 5 then
    open cur for select k.* from sluice.keys k where k.queue_id = this_queue and k.token is null
      and k.parked and k.key > in_after and k.key >= in_prefix order by k.queue_id, k.key;
  else
    open cur for select k.* from sluice.keys k where k.queue_id = this_queue
      and k.key > in_after and k.key >= in_prefix order by k.queue_id, k.key;
  end if;
  loop
    fetch cur into one;
    exit when not found;
    exit when in_keys is null and not starts_with(one.key, in_prefix);
    if in_keys is null and (matched >= in_limit or looked >= in_look) then
      has_more := true;
      exit;
    end if;
    looked := looked + 1;
    last := one.key;
    is_state := case
      when one.token is not null then case when one.due_at <= t then 4 else 3 end
      when one.parked then 5
      when one.due_at = 'Infinity' then 6
      when one.due_at <= t then 0
      when one.why = 2 then 2
      else 1 end;
    if in_state is null or is_state = in_state then
      matched := matched + 1;
      return query select null::float8, null::text, is_state, one;
    end if;
  end loop;
  close cur;
  return query select t, case when has_more then last end, null::int, null::sluice.keys;
end
$body$;

-- The names of all queues that have keys, are paused, or have a worker on record; the keys by single
-- steps on the primary key.
create function sluice.queue_names() returns setof text language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
as $body$
begin
  return query
    with recursive found (id, name) as (
      (select k.queue_id, k.queue from sluice.keys k order by k.queue_id, k.key limit 1)
      union all
      select x.queue_id, x.queue from found f cross join lateral (
        select k.queue_id, k.queue from sluice.keys k where k.queue_id > f.id
        order by k.queue_id, k.key limit 1) x
    )
    select f.name from found f
    union select q.name from sluice.queues q where q.paused
    union select w.queue from sluice.workers w;
end
$body$;
