-- Adds what a worker did to the history of its queue, once for each length of a step. Returns false if
-- another session does so at this moment: workers never wait for each other here.
--
-- in_record: JSON as the driver sends it; in_steps and in_kept: the lengths of steps, and how many of
-- each are kept.
create or replace function sluice.add_record(
  in_queue text, in_record text, in_steps int[], in_kept int[], in_cap int, in_codes int,
  in_runs int, in_runs_of_code int, in_runs_ms float8, in_now float8
) returns boolean language plpgsql
-- @include settings
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number(in_queue);
  work jsonb := in_record::jsonb;
  depth record;
  step int; kept int; first_at float8; n int;
begin
  -- With the name of the schema: advisory locks are those of a database, which may have other schemas.
  if not pg_try_advisory_xact_lock(this_queue # hashtextextended('sluice.add_record', 0)) then
    return false;
  end if;
  first_at := floor(in_now / in_steps[1]) * in_steps[1];
  select h.ready, h.delayed, h.held, h.parked, h.oldest_ms, h.capped, h.paused into depth from sluice.history h
  where h.queue_id = this_queue and h.step_ms = in_steps[1] and h.at = first_at;
  if not found then
    select c.ready, c.delayed + c.backoff as delayed, c.processing + c.dirty as held, c.parked,
      case when c.oldest < 'Infinity' then greatest(0, in_now - c.oldest) else 0 end as oldest_ms, c.capped, c.paused
    into depth from sluice.counts(in_queue, in_cap, in_now, null) c;
  end if;
  for n in 1 .. cardinality(in_steps) loop
    step := in_steps[n];
    kept := in_kept[n];
    first_at := floor(in_now / step) * step;
    insert into sluice.history as h (queue_id, step_ms, at, started, done, failed, added, merged,
      expired, ready, delayed, held, parked, oldest_ms, capped, paused,
      codes)
    values (this_queue, step, first_at, (work ->> 'started')::bigint,
      (work ->> 'done')::bigint, (work ->> 'failed')::bigint, (work ->> 'added')::bigint,
      (work ->> 'merged')::bigint, (work ->> 'expired')::bigint,
      depth.ready, depth.delayed, depth.held, depth.parked, depth.oldest_ms,
      depth.capped, depth.paused,
      sluice.add_codes('[]', work -> 'codes', in_codes))
    on conflict (queue_id, step_ms, at) do update set
      started = h.started + excluded.started, done = h.done + excluded.done,
      failed = h.failed + excluded.failed, added = h.added + excluded.added,
      merged = h.merged + excluded.merged, expired = h.expired + excluded.expired,
      ready = excluded.ready, delayed = excluded.delayed, held = excluded.held,
      parked = excluded.parked, oldest_ms = excluded.oldest_ms, capped = excluded.capped,
      paused = excluded.paused,
      codes = case when work -> 'codes' = '[]' then h.codes
        else sluice.add_codes(h.codes::jsonb, work -> 'codes', in_codes) end;
    delete from sluice.history h
    where h.queue_id = this_queue and h.step_ms = step and h.at <= first_at - step::float8 * kept;
  end loop;
  delete from sluice.failed_runs f where f.queue_id = this_queue and f.at <= in_now - in_runs_ms;
  if work -> 'failedRuns' = '[]' then
    return true;
  end if;
  -- The sequence is behind rows that were copied without its value. The lock above keeps others from adding rows.
  insert into sluice.failed_runs (queue_id, id, at, key, code, holder, failures, last_error)
  overriding system value
  select this_queue, greatest(nextval('sluice.failed_runs_id_seq'), e.nth +
      coalesce((select max(x.id) from sluice.failed_runs x where x.queue_id = this_queue), 0)),
    (r ->> 'at')::float8, r ->> 'key', r ->> 'code', r ->> 'holder',
    (r ->> 'failures')::int, r ->> 'lastError'
  from jsonb_array_elements(work -> 'failedRuns') with ordinality as e(r, nth) order by e.nth;
  delete from sluice.failed_runs f using (
    select x.id, row_number() over (partition by x.code order by x.at desc, x.id desc) as nth
    from sluice.failed_runs x where x.queue_id = this_queue) y
  where f.queue_id = this_queue and f.id = y.id and y.nth > in_runs_of_code;
  delete from sluice.failed_runs f using (
    select x.id from sluice.failed_runs x where x.queue_id = this_queue
    order by x.at desc, x.id desc offset in_runs) y
  where f.queue_id = this_queue and f.id = y.id;
  return true;
end
$body$;
