-- What verbs need that are worked out by the caller: rows to lock, rows to write. Between the two
-- the caller keeps a short transaction open.

-- Locks keys, which come sorted, and shows them; with in_create, also those that are not there, as
-- empty rows. The store's time is read after the last lock, so that it is later than whatever the
-- rows say. Always gives a first row with a null key.
create function sluice.lock_keys(
  in_queue text, in_keys text[], in_create boolean, in_now float8, in_least float8
) returns table (now float8, base float8, state sluice.keys) language plpgsql
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
begin
  if in_create then
    insert into sluice.keys as k (queue_id, queue, key)
    select this_queue, in_queue, i.key from unnest(in_keys) as i(key)
    on conflict (queue_id, key) do update set change = 0 where false;
  else
    -- Only what could be locked is shown. A key that somebody adds after this, and somebody else
    -- claims, would be seen by the next statement, and written over by the caller.
    in_keys := array(select x.key from unnest(in_keys) as i(key) cross join lateral (
      select k.key from sluice.keys k where k.queue_id = this_queue and k.key = i.key
      for update) x);
  end if;
  return query select sluice.present(in_now, in_least), nextval('sluice.arrival')::float8, null::sluice.keys;
  return query
    -- The offset keeps it a look-up for each key; otherwise a planner that believes the table to be
    -- small would read all of the queue instead.
    select null::float8, null::float8, k from unnest(in_keys) as i(key) cross join lateral (
      select x from sluice.keys x where x.queue_id = this_queue and x.key = i.key offset 0) as r(k);
end
$body$;

-- How many keys of a queue are pending, as far as in_most: by the indexes of what waits, is held and is
-- parked, so that keys with nothing but a failure count are not read. With in_lock, no other
-- transaction counts until this one ends, so that together they stay below a limit; waits longer than
-- for a key, because every add of a queue with a limit passes through here.
create function sluice.owed(in_queue text, in_most int, in_lock boolean) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
as $body$
declare
  this_queue bigint := sluice.queue_number(in_queue);
begin
  if in_lock then
    perform pg_advisory_xact_lock(this_queue # hashtextextended('sluice.owed', 0));
  end if;
  return (select count(*) from (
    (select from sluice.keys k where k.queue_id = this_queue and k.token is null and not k.parked
      and k.due_at < 'Infinity'
    order by k.queue_id, k.priority desc limit in_most)
    union all
    (select from sluice.keys k where k.queue_id = this_queue and k.token is not null
      and k.due_at < 'Infinity'
    order by k.queue_id, k.token limit in_most)
    union all
    (select from sluice.keys k where k.queue_id = this_queue and k.token is null and k.parked
      and k.due_at < 'Infinity'
    order by k.queue_id, k.key limit in_most)
    limit in_most) x);
end
$body$;

-- Writes keys that lock_keys has locked; those of in_gone are deleted.
create function sluice.write_keys(
  in_queue text, in_gone text[], in_keys text[], in_items text[], in_errors text[],
  in_due_at float8[], in_why int[], in_later_at float8[], in_later_why int[],
  in_ready_at float8[], in_seq bigint[], in_priority int[], in_asked_at float8[],
  in_held boolean[], in_failures int[], in_crashes int[], in_failed_at float8[],
  in_parked boolean[]
) returns void language plpgsql
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
declare
  this_queue bigint := sluice.queue_number(in_queue);
begin
  if cardinality(in_keys) > 0 then
    update sluice.keys k set
      item = u.item, last_error = u.error, due_at = u.due_at, why = u.why, later_at = u.later_at,
      later_why = u.later_why, ready_at = u.ready_at, seq = u.seq, priority = u.priority,
      asked_at = u.asked_at, failures = u.failures, crashes = u.crashes,
      failed_at = u.failed_at, parked = u.parked,
      token = case when u.held then k.token end,
      lease_until = case when u.held then k.lease_until end,
      holder = case when u.held then k.holder end,
      claim_id = case when u.held then k.claim_id end,
      claimed_due_at = case when u.held then k.claimed_due_at end,
      claimed_later_at = case when u.held then k.claimed_later_at end,
      claimed_ready_at = case when u.held then k.claimed_ready_at end,
      claimed_asked_at = case when u.held then k.claimed_asked_at end,
      claimed_seq = case when u.held then k.claimed_seq end,
      claimed_priority = case when u.held then k.claimed_priority end,
      claimed_why = case when u.held then k.claimed_why end
    from (
      select x.ctid, i.* from unnest(
        in_keys, in_items, in_errors, in_due_at, in_why, in_later_at, in_later_why, in_ready_at,
        in_seq, in_priority, in_asked_at, in_held, in_failures, in_crashes, in_failed_at, in_parked
      ) as i(
        key, item, error, due_at, why, later_at, later_why, ready_at,
        seq, priority, asked_at, held, failures, crashes, failed_at, parked
      ) cross join lateral (
        select k.ctid from sluice.keys k where k.queue_id = this_queue and k.key = i.key offset 0) x
      offset 0
    ) u
    where k.ctid = u.ctid;
  end if;
  if cardinality(in_gone) > 0 then
    delete from sluice.keys k
    using (
      select x.ctid from unnest(in_gone) as i(key) cross join lateral (
        select k.ctid from sluice.keys k where k.queue_id = this_queue and k.key = i.key offset 0) x
      offset 0
    ) u
    where k.ctid = u.ctid;
  end if;
end
$body$;

-- Locks token buckets, which come sorted, making those that are not there. Waits longer than for a
-- key: everybody who charges a bucket passes through here, for a moment each.
create function sluice.lock_buckets(in_names text[])
returns table (name text, tokens float8, at float8) language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $body$
#variable_conflict use_column
begin
  insert into sluice.buckets as b (name) select i.name from unnest(in_names) as i(name)
  on conflict (name) do update set tokens = b.tokens where false;
  return query select b.name, b.tokens, b.at from sluice.buckets b where b.name = any (in_names);
end
$body$;

-- Writes buckets that lock_buckets has locked, and drops those that nobody has charged.
create function sluice.write_buckets(
  in_names text[], in_rates float8[], in_bursts float8[], in_tokens float8[], in_at float8[],
  in_unused text[]
) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
begin
  update sluice.buckets b set per_second = u.rate, burst = u.burst, tokens = u.tokens, at = u.at
  from unnest(in_names, in_rates, in_bursts, in_tokens, in_at) as u(name, rate, burst, tokens, at)
  where b.name = u.name;
  delete from sluice.buckets b where b.name = any (in_unused) and b.tokens is null;
end
$body$;

-- Which of these keys somebody else has locked right now, for a batch that has met a lock. With
-- in_create, also keys that somebody is about to create: those can only be found by trying.
create function sluice.busy_keys(in_queue text, in_keys text[], in_create boolean)
returns setof text language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '1ms'
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
as $body$
declare
  this_queue bigint := sluice.queue_number(in_queue);
  free text[]; seen text[]; one text;
begin
  free := array(select x.key from unnest(in_keys) as i(key) cross join lateral (
    select k.key from sluice.keys k where k.queue_id = this_queue and k.key = i.key
    for update skip locked) x);
  seen := array(select x.key from unnest(in_keys) as i(key) cross join lateral (
    select k.key from sluice.keys k where k.queue_id = this_queue and k.key = i.key offset 0) x);
  return query select u.key from unnest(seen) as u(key) where u.key <> all (free);
  if not in_create then return; end if;
  foreach one in array array(select i.key from unnest(in_keys) as i(key) where i.key <> all (seen))
  loop
    begin
      insert into sluice.keys (queue_id, queue, key)
      values (this_queue, in_queue, one) on conflict do nothing;
      raise exception 'taken back' using errcode = 'SL000';
    exception
      when sqlstate 'SL000' then null;
      when lock_not_available then return next one;
    end;
  end loop;
end
$body$;
