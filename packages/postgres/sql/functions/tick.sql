-- The heartbeat: registers a worker, adds its record to the history, reports expired leases, returns when to look again, deletes expired
-- failure counts, and notes the present, at most every nine seconds in the whole store.
--
-- Rows: kind 0 (the store's time, the next instant, how many were deleted, whether the record was
-- added), 2 (an expired lease). The next instant is read from the front of the index at each priority.
create or replace function sluice.tick(
  in_queue text, in_holder text, in_host text, in_pid int, in_concurrency int, in_info text,
  in_limit int, in_expire float8, in_now float8, in_least float8, in_record text, in_steps int[],
  in_kept int[], in_cap int, in_codes int, in_runs int, in_runs_of_code int, in_runs_ms float8
) returns table (
  kind int, now float8, next_at float8, swept int, key text, token bigint,
  recorded boolean
) language plpgsql
-- @include settings
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number(in_queue);
  t float8 := sluice.present(in_now, in_least);
  is_recorded boolean; gone int; unused text; lease_at float8; due_at float8 := 'Infinity';
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
    -- The records of the next queue by name are deleted if none of its workers was seen for two days: only they
    -- would do it. Under the lock of its records, and without rows that are locked, so that no session waits for
    -- another one, and a worker that comes back stays.
    unused := coalesce((select min(w.queue) from sluice.workers w where w.queue > in_queue),
      (select min(w.queue) from sluice.workers w));
    if not exists (select from sluice.workers w where w.queue = unused and w.seen_at >= t - 172800000)
      and pg_try_advisory_xact_lock(sluice.queue_number(unused) # hashtextextended('sluice.add_record', 0)) then
      delete from sluice.history h where h.queue_id = sluice.queue_number(unused);
      delete from sluice.failed_runs f where f.queue_id = sluice.queue_number(unused);
      delete from sluice.workers w using (
        select x.holder from sluice.workers x
        where x.queue = unused and x.seen_at < t - 172800000 for update skip locked) o
      where w.queue = unused and w.holder = o.holder;
    end if;
  end if;
  if in_record is not null then
    is_recorded := sluice.add_record(in_queue, in_record, in_steps, in_kept, in_cap, in_codes, in_runs,
      in_runs_of_code, in_runs_ms, t);
  end if;
  delete from sluice.keys k where k.ctid = any (array(
    select x.ctid from sluice.keys x
    where x.queue_id = this_queue and x.token is null and not x.parked and x.due_at = 'Infinity'
      and x.failed_at is not null and x.failed_at <= t - in_expire and x.failed_at + in_expire <= t
    order by x.failed_at limit in_limit for update skip locked))
    and k.token is null and not k.parked and k.due_at = 'Infinity';
  get diagnostics gone = row_count;
  select min(k.lease_until) into lease_at from sluice.keys k
  where k.queue_id = this_queue and k.token is not null;
  if not exists (select from sluice.queues q where q.name = in_queue and q.paused) then
    with recursive
    -- @include levels
    select min(l.first_at) into due_at from levels l;
  end if;
  return query select 0, t, least(lease_at, due_at, 'Infinity'), gone, null::text, null::bigint,
    is_recorded;
  return query select 2, null::float8, null::float8, null::int, k.key, k.token, null::boolean
  from sluice.keys k where k.queue_id = this_queue and k.token is not null and k.lease_until <= t
  limit in_limit;
end
$body$;
