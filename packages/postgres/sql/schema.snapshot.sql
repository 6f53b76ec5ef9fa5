-- Written from a server by test/schema/snapshot.test.ts, with vitest -u.

create table buckets (
  name text collate "C" not null,
  per_second double precision,
  burst double precision,
  tokens double precision,
  at double precision
) with (fillfactor=50, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_scale_factor=0);

create table failed_runs (
  queue_id bigint not null,
  id bigint not null,
  at double precision not null,
  failures integer not null,
  key text collate "C" not null,
  code text collate "C" not null,
  holder text collate "C" not null,
  last_error text not null
) with (autovacuum_vacuum_threshold=1000, autovacuum_vacuum_scale_factor=0);

create table history (
  queue_id bigint not null,
  at double precision not null,
  started bigint not null,
  done bigint not null,
  failed bigint not null,
  added bigint not null,
  merged bigint not null,
  expired bigint not null,
  oldest_ms double precision not null,
  step_ms integer not null,
  ready integer not null,
  delayed integer not null,
  held integer not null,
  parked integer not null,
  capped boolean not null,
  paused boolean not null,
  codes text not null
) with (fillfactor=80, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_scale_factor=0);

create table keys (
  queue_id bigint not null,
  due_at double precision not null default 'Infinity'::double precision,
  later_at double precision not null default 'Infinity'::double precision,
  ready_at double precision not null default 'Infinity'::double precision,
  asked_at double precision,
  seq bigint not null default 0,
  token bigint,
  lease_until double precision,
  claimed_due_at double precision,
  claimed_later_at double precision,
  claimed_ready_at double precision,
  claimed_asked_at double precision,
  claimed_seq bigint,
  failed_at double precision,
  priority integer not null default 0,
  claimed_priority integer,
  failures integer not null default 0,
  crashes integer not null default 0,
  why smallint not null default 0,
  later_why smallint not null default 0,
  claimed_why smallint,
  change smallint not null default 0,
  parked boolean not null default false,
  key text collate "C" not null,
  queue text collate "C" not null,
  item text,
  holder text collate "C",
  claim_id text collate "C",
  last_error text,
  trace text,
  claimed_trace text
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_insert_threshold=-1, autovacuum_vacuum_cost_delay=0, autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=50000);

create table migrations (
  version integer not null,
  title text not null,
  breaking boolean not null,
  applied_at timestamp with time zone not null default clock_timestamp()
);

create table queues (
  name text collate "C" not null,
  paused boolean not null default false
);

create table workers (
  queue text collate "C" not null,
  holder text collate "C" not null,
  host text not null,
  pid integer not null,
  concurrency integer not null,
  info text not null,
  started_at double precision not null,
  seen_at double precision not null
) with (fillfactor=50, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_scale_factor=0);

alter table buckets add constraint buckets_pkey PRIMARY KEY (name);

alter table failed_runs add constraint failed_runs_pkey PRIMARY KEY (queue_id, id);

alter table history add constraint history_pkey PRIMARY KEY (queue_id, step_ms, at);

alter table keys add constraint keys_pkey PRIMARY KEY (queue_id, key);

alter table migrations add constraint migrations_pkey PRIMARY KEY (version);

alter table queues add constraint queues_pkey PRIMARY KEY (name);

alter table workers add constraint workers_pkey PRIMARY KEY (queue, holder);

CREATE INDEX keys_held ON keys USING btree (queue_id, token) WHERE (token IS NOT NULL);

CREATE INDEX keys_idle ON keys USING btree (queue_id, failed_at) WHERE ((token IS NULL) AND (NOT parked) AND (due_at = 'Infinity'::double precision) AND (failed_at IS NOT NULL));

CREATE INDEX keys_parked ON keys USING btree (queue_id, key) WHERE ((token IS NULL) AND parked);

CREATE INDEX keys_waiting ON keys USING btree (queue_id, priority DESC, ready_at, seq) WHERE ((token IS NULL) AND (NOT parked) AND (due_at < 'Infinity'::double precision));

create sequence ahead as bigint increment by 1 minvalue 0 maxvalue 9223372036854775807 start with 0 cache 1;

create sequence arrival as bigint increment by 1024 minvalue 1 maxvalue 9223372036854775807 start with 1024 cache 1;

create sequence failed_runs_id_seq as bigint increment by 1 minvalue 1 maxvalue 9223372036854775807 start with 1 cache 1;

create sequence latest as bigint increment by 1 minvalue 1 maxvalue 9223372036854775807 start with 1 cache 1;

create sequence token as bigint increment by 1 minvalue 1 maxvalue 9007199254740991 start with 1 cache 1;

CREATE OR REPLACE FUNCTION add(queue text, key text, item jsonb DEFAULT NULL::jsonb, priority integer DEFAULT 0, dedupe text DEFAULT 'client-go'::text)
 RETURNS text
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
select a.outcome from add_checked_89076fea(
  $1, array[$2], case when $3 is not null then array[$3] end, '0', $4, $5) a
$function$;

CREATE OR REPLACE FUNCTION add_00034e40(in_queue text, in_keys text[], in_items text[], in_priorities integer[], in_delays double precision[], in_indexes integer[], in_twice boolean, in_expire double precision, in_now double precision, in_least double precision, in_channel text, in_notice text, in_traces text[])
 RETURNS TABLE(key text, outcome integer, due_at double precision, failures integer)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET lock_timeout TO '50ms'
AS $function$
#variable_conflict use_column
declare
  this_queue bigint := queue_number_6461402f(in_queue);
  t float8 := present_4c1f74c0(in_now, in_least);
  base bigint := nextval('arrival');
  by_server boolean := in_now is null;
  n_keys text[]; changes smallint[]; dues float8[]; fails int[]; fresh bigint; wakes boolean;
begin
  if cardinality(in_keys) = 1 then
    insert into keys as k
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
    insert into keys as k
      (queue_id, queue, key, item, due_at, ready_at, why, seq, priority, asked_at, change, trace)
    select this_queue, in_queue, i.key, i.item, t + greatest(i.delay, 0), t + greatest(i.delay, 0),
      (i.delay > 0)::int, base + i.index, i.priority, t, 4, i.trace
    from unnest(in_keys, in_items, in_priorities, in_delays, in_indexes, in_traces)
      as i(key, item, priority, delay, index, trace)
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
      select k.key, case when k.parked and k.token is null then 3 else 0 end, k.due_at, k.failures
      from unnest(in_keys) as i(key) cross join lateral (
        select x.* from keys x where x.queue_id = this_queue and x.key = i.key offset 0) k;
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION add_after(queue text, key text, delay interval, item jsonb DEFAULT NULL::jsonb, priority integer DEFAULT 0, dedupe text DEFAULT 'client-go'::text)
 RETURNS text
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
select a.outcome from add_checked_89076fea(
  $1, array[$2], case when $4 is not null then array[$4] end, $3, $5, $6) a
$function$;

CREATE OR REPLACE FUNCTION add_checked_89076fea(in_queue text, in_keys text[], in_items jsonb[], in_delay interval, in_priority integer, in_dedupe text)
 RETURNS TABLE(key text, outcome text)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
declare
  keys_step constant int := 1000;
  delay_max constant float8 := 315576000000;
  delay_ms float8 := extract(epoch from in_delay) * 1000;
  wrong text; step_keys text[]; step_items text[]; step_indexes int[];
begin
  perform check_names_a96c6c20(in_queue, in_keys);
  wrong := case
    when in_priority is null or in_priority not between -1000 and 1000
      then format('priority must be from -1000 to 1000; got %s', coalesce(in_priority::text, 'null'))
    when in_dedupe is null or in_dedupe not in ('client-go', 'earliest')
      then format('dedupe must be client-go or earliest; got %s', coalesce(in_dedupe, 'null'))
    when delay_ms is null or delay_ms = '-Infinity' or delay_ms > delay_max
      then format('delay must be finite and at most ten years; got %s', coalesce(in_delay::text, 'null'))
    when in_items is not null and cardinality(in_items) <> coalesce(cardinality(in_keys), 0)
      then format('items must be as many as keys; got %s for %s keys', cardinality(in_items),
        coalesce(cardinality(in_keys), 0))
    when exists (select from unnest(in_items) i(item)
        where octet_length(convert_to(i.item::text, 'UTF8')) > 1048576)
      then 'item must be at most 1048576 bytes as JSON'
    when exists (select from unnest(in_items) i(item) where jsonb_path_exists(i.item,
        '$.** ? (@.type() == "number" && (@ > 1.7976931348623157e308 || @ < -1.7976931348623157e308))'))
      then 'item must not contain a number that a double cannot hold'
    end;
  if wrong is not null then raise exception using errcode = '22023', message = 'sluice: ' || wrong; end if;
  for step_keys, step_items, step_indexes in
    select array_agg(x.key order by x.nth), array_agg(x.item::text order by x.nth),
      array_agg(x.index::int order by x.nth)
    from (
      select d.*, row_number() over (order by d.key) - 1 as nth from (
        select distinct on (i.key collate "C") i.key collate "C" as key, i.item,
          min(i.index) over (partition by i.key collate "C") as index
        from unnest(in_keys, in_items) with ordinality as i(key, item, index)
        order by i.key collate "C", i.index desc) d) x
    group by x.nth / keys_step order by min(x.nth)
  loop
    return query
      with part as materialized (
        select p.key, p.item, (row_number() over (order by p.index))::int as index
        from unnest(step_keys, step_items, step_indexes) as p(key, item, index)
      ), batch as materialized (
        select array_agg(p.key order by p.key collate "C") as keys,
          array_agg(p.item order by p.key collate "C") as items,
          array_agg(p.index order by p.key collate "C") as indexes, count(*)::int as size
        from part p
      ), written as materialized (
        select a.key, a.outcome, a.n
        from batch b cross join lateral add_waiting_02acf7f2(
          in_queue, b.keys, b.items, array_fill(in_priority, array[b.size]),
          array_fill(delay_ms, array[b.size]), b.indexes, in_dedupe = 'client-go', 86400000,
          null, pg_sequence_last_value('latest') / 1000.0::float8,
          'sluice_16a0eeb0791b6c92451fd284', 'q' || in_queue, null) with ordinality as a(key, outcome, due_at, failures, n)
      ), firsts as materialized (
        select distinct on (w.key) w.key, w.outcome from written w where w.key is not null
        order by w.key, w.n
      )
      select p.key, (array['unchanged', 'added', 'moved', 'parked', 'added'])[coalesce(f.outcome, 4) + 1]
      from part p left join firsts f on f.key = p.key order by p.index;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION add_codes_424b135c(in_a jsonb, in_b jsonb, in_codes integer)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET lock_timeout TO '50ms'
AS $function$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_array(s.code, s.failed) order by s.failed desc, s.code),
      '[]')::text
    from (
      select (p ->> 0) collate "C" as code, sum((p ->> 1)::bigint) as failed
      from jsonb_array_elements(in_a || in_b) as e(p)
      group by 1 order by 2 desc, 1 limit in_codes) s);
end
$function$;

CREATE OR REPLACE FUNCTION add_many(queue text, keys text[], items jsonb[] DEFAULT NULL::jsonb[], delay interval DEFAULT '00:00:00'::interval, priority integer DEFAULT 0, dedupe text DEFAULT 'client-go'::text)
 RETURNS TABLE(key text, outcome text)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
select a.key, a.outcome from add_checked_89076fea($1, $2, $3, $4, $5, $6) a
$function$;

CREATE OR REPLACE FUNCTION add_record_e13ce960(in_queue text, in_record text, in_steps integer[], in_kept integer[], in_cap integer, in_codes integer, in_runs integer, in_runs_of_code integer, in_runs_ms double precision, in_now double precision)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET lock_timeout TO '50ms'
AS $function$
#variable_conflict use_column
declare
  this_queue bigint := queue_number_6461402f(in_queue);
  work jsonb := in_record::jsonb;
  depth record;
  step int; kept int; first_at float8; n int;
begin
  if not pg_try_advisory_xact_lock(this_queue # hashtextextended('add_record', 0)) then
    return false;
  end if;
  first_at := floor(in_now / in_steps[1]) * in_steps[1];
  select h.ready, h.delayed, h.held, h.parked, h.oldest_ms, h.capped, h.paused into depth from history h
  where h.queue_id = this_queue and h.step_ms = in_steps[1] and h.at = first_at;
  if not found then
    select c.ready, c.delayed + c.backoff as delayed, c.processing + c.dirty as held, c.parked,
      case when c.oldest < 'Infinity' then greatest(0, in_now - c.oldest) else 0 end as oldest_ms, c.capped, c.paused
    into depth from counts_74c15828(in_queue, in_cap, in_now, null) c;
  end if;
  for n in 1 .. cardinality(in_steps) loop
    step := in_steps[n];
    kept := in_kept[n];
    first_at := floor(in_now / step) * step;
    insert into history as h (queue_id, step_ms, at, started, done, failed, added, merged,
      expired, ready, delayed, held, parked, oldest_ms, capped, paused,
      codes)
    values (this_queue, step, first_at, (work ->> 'started')::bigint,
      (work ->> 'done')::bigint, (work ->> 'failed')::bigint, (work ->> 'added')::bigint,
      (work ->> 'merged')::bigint, (work ->> 'expired')::bigint,
      depth.ready, depth.delayed, depth.held, depth.parked, depth.oldest_ms,
      depth.capped, depth.paused,
      add_codes_424b135c('[]', work -> 'codes', in_codes))
    on conflict (queue_id, step_ms, at) do update set
      started = h.started + excluded.started, done = h.done + excluded.done,
      failed = h.failed + excluded.failed, added = h.added + excluded.added,
      merged = h.merged + excluded.merged, expired = h.expired + excluded.expired,
      ready = excluded.ready, delayed = excluded.delayed, held = excluded.held,
      parked = excluded.parked, oldest_ms = excluded.oldest_ms, capped = excluded.capped,
      paused = excluded.paused,
      codes = case when work -> 'codes' = '[]' then h.codes
        else add_codes_424b135c(h.codes::jsonb, work -> 'codes', in_codes) end;
    delete from history h
    where h.queue_id = this_queue and h.step_ms = step and h.at <= first_at - step::float8 * kept;
  end loop;
  delete from failed_runs f where f.queue_id = this_queue and f.at <= in_now - in_runs_ms;
  if work -> 'failedRuns' = '[]' then
    return true;
  end if;
  insert into failed_runs (queue_id, id, at, key, code, holder, failures, last_error)
  overriding system value
  select this_queue, greatest(nextval('failed_runs_id_seq'), e.nth +
      coalesce((select max(x.id) from failed_runs x where x.queue_id = this_queue), 0)),
    (r ->> 'at')::float8, r ->> 'key', r ->> 'code', r ->> 'holder',
    (r ->> 'failures')::int, r ->> 'lastError'
  from jsonb_array_elements(work -> 'failedRuns') with ordinality as e(r, nth) order by e.nth;
  delete from failed_runs f using (
    select x.id, row_number() over (partition by x.code order by x.at desc, x.id desc) as nth
    from failed_runs x where x.queue_id = this_queue) y
  where f.queue_id = this_queue and f.id = y.id and y.nth > in_runs_of_code;
  delete from failed_runs f using (
    select x.id from failed_runs x where x.queue_id = this_queue
    order by x.at desc, x.id desc offset in_runs) y
  where f.queue_id = this_queue and f.id = y.id;
  return true;
end
$function$;

CREATE OR REPLACE FUNCTION add_waiting_02acf7f2(in_queue text, in_keys text[], in_items text[], in_priorities integer[], in_delays double precision[], in_indexes integer[], in_twice boolean, in_expire double precision, in_now double precision, in_least double precision, in_channel text, in_notice text, in_traces text[])
 RETURNS TABLE(key text, outcome integer, due_at double precision, failures integer)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
AS $function$
#variable_conflict use_column
declare
  this_queue bigint := queue_number_6461402f(in_queue);
  t float8 := present_4c1f74c0(in_now, in_least);
  base bigint := nextval('arrival');
  by_server boolean := in_now is null;
  n_keys text[]; changes smallint[]; dues float8[]; fails int[]; fresh bigint; wakes boolean;
begin
  if cardinality(in_keys) = 1 then
    insert into keys as k
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
    insert into keys as k
      (queue_id, queue, key, item, due_at, ready_at, why, seq, priority, asked_at, change, trace)
    select this_queue, in_queue, i.key, i.item, t + greatest(i.delay, 0), t + greatest(i.delay, 0),
      (i.delay > 0)::int, base + i.index, i.priority, t, 4, i.trace
    from unnest(in_keys, in_items, in_priorities, in_delays, in_indexes, in_traces)
      as i(key, item, priority, delay, index, trace)
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
      select k.key, case when k.parked and k.token is null then 3 else 0 end, k.due_at, k.failures
      from unnest(in_keys) as i(key) cross join lateral (
        select x.* from keys x where x.queue_id = this_queue and x.key = i.key offset 0) k;
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION ahead_ms_a3187b88()
 RETURNS double precision
 LANGUAGE sql
RETURN ((COALESCE(pg_sequence_last_value('ahead'::regclass), (0)::bigint))::double precision / (1000)::double precision);

CREATE OR REPLACE FUNCTION cancel(queue text, key text)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
AS $function$
#variable_conflict use_column
declare
  in_queue constant text := $1;
  in_key constant text := $2;
  this_queue bigint; row keys;
begin
  perform check_names_a96c6c20(in_queue, array[in_key]);
  this_queue := queue_number_6461402f(in_queue);
  select k.* into row from keys k where k.queue_id = this_queue and k.key = in_key for update;
  if not found or row.due_at = 'Infinity' then return 'unchanged'; end if;
  if row.token is null and row.failures = 0 and row.crashes = 0 and not row.parked then
    delete from keys k where k.queue_id = this_queue and k.key = in_key;
  else
    update keys k set due_at = 'Infinity', later_at = 'Infinity', trace = null
    where k.queue_id = this_queue and k.key = in_key;
  end if;
  return 'cancelled';
end
$function$;

CREATE OR REPLACE FUNCTION check_names_a96c6c20(in_queue text, in_keys text[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
#variable_conflict use_column
declare wrong text; named text;
begin
  wrong := case
    when in_queue is null then 'queue must not be null'
    when in_queue = '' then 'queue must not be empty'
    when octet_length(convert_to(in_queue, 'UTF8')) > 128 then 'queue must be at most 128 bytes'
    when starts_with(in_queue, 'sluice:metrics:')
      then format('queue must not begin with sluice:metrics:, which is reserved; got %s', in_queue)
    when in_keys is null then 'keys must not be null'
    when exists (select from unnest(in_keys) i(key) where i.key is null) then 'key must not be null'
    when exists (select from unnest(in_keys) i(key) where i.key = '') then 'key must not be empty'
    when exists (select from unnest(in_keys) i(key) where octet_length(convert_to(i.key, 'UTF8')) > 512)
      then 'key must be at most 512 bytes'
    end;
  if wrong is null then
    for named in select i.key from unnest(in_keys) i(key) where starts_with(i.key, 'json:') loop
      begin
        perform substr(named, 6)::json;
      exception when others then
        wrong := format('key must be json: and the JSON text of an item; got %s', left(named, 100));
      end;
    end loop;
  end if;
  if wrong is not null then raise exception using errcode = '22023', message = 'sluice: ' || wrong; end if;
end
$function$;

CREATE OR REPLACE FUNCTION claim_5ca892a5(in_queue text, in_limit integer, in_holder text, in_claim_id text, in_lease double precision, in_due_by double precision, in_before bigint, in_looks integer, in_now double precision, in_least double precision)
 RETURNS TABLE(now double precision, tokens text, texts text, numbers text, ended_keys text, ended_tokens text, look_before bigint, item text)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET lock_timeout TO '50ms'
AS $function$
#variable_conflict use_column
declare
  this_queue bigint := queue_number_6461402f(in_queue);
  t float8 := present_4c1f74c0(in_now, in_least);
  level int; first_at float8; below bigint := 2147483648;
  picks tid[]; crashes_max int := 1;
  ctids tid[]; drawn bigint[]; are_short boolean; first_end float8;
begin
  now := t;
  loop
    select k.priority, k.ready_at into level, first_at from keys k
    where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
      and k.priority < below
      and not exists (select from queues q where q.name = in_queue and q.paused)
    order by k.priority desc, k.ready_at, k.seq limit 1;
    exit when not found;
    if first_at <= t then
      picks := picks || array(
        select case when k.crashes <= crashes_max then k.ctid end from keys k
        where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
          and k.priority = level and k.ready_at >= first_at and k.ready_at <= t
          and k.due_at <= t
          and k.due_at <= in_due_by
        order by k.ready_at, k.seq limit in_limit - coalesce(cardinality(picks), 0)
        for update skip locked);
      if array_position(picks, null) > 0 then
        picks := nullif(picks[1:array_position(picks, null) - 1], '{}');
        exit when picks is not null;
        in_limit := 1; crashes_max := 2147483647;
        continue;
      end if;
      exit when cardinality(picks) >= in_limit;
    end if;
    below := level;
  end loop;
  if cardinality(picks) = 1 then
    update keys k set
      token = nextval('token'),
      seq = case when k.later_at < 'Infinity' then nextval('arrival') + 1 else k.seq end,
      lease_until = t + in_lease, holder = in_holder, claim_id = in_claim_id,
      claimed_due_at = k.due_at, claimed_why = k.why, claimed_ready_at = k.ready_at,
      claimed_seq = k.seq, claimed_priority = k.priority, claimed_asked_at = k.asked_at,
      claimed_later_at = case when k.later_at <= t then 'Infinity' else k.later_at end,
      due_at = case when k.later_at <= t then 'Infinity' else k.later_at end,
      ready_at = case when k.later_at <= t then 'Infinity' else k.later_at end,
      why = k.later_why,
      later_at = 'Infinity',
      claimed_trace = k.trace, trace = null
    where k.ctid = picks[1]
    returning array[k.token], json_build_array(k.key, null, k.claimed_trace),
      array[k.failures, k.crashes, k.claimed_priority,
        coalesce(k.claimed_asked_at, 'Infinity'), k.claimed_ready_at],
      k.item
    into tokens, texts, numbers, item;
  elsif cardinality(picks) > 1 then
    select array_agg(n.ctid order by n.ctid), array_agg(n.token order by n.ctid) into ctids, drawn
    from (select u.ctid, nextval('token') as token from unnest(picks) as u(ctid) offset 0) n;
    with claimed as (
      update keys k set
        token = drawn[width_bucket(k.ctid, ctids)],
        seq = case when k.later_at < 'Infinity'
          then (select nextval('arrival')) + array_position(picks, k.ctid) else k.seq end,
        lease_until = t + in_lease, holder = in_holder, claim_id = in_claim_id,
        claimed_due_at = k.due_at, claimed_why = k.why, claimed_ready_at = k.ready_at,
        claimed_seq = k.seq, claimed_priority = k.priority, claimed_asked_at = k.asked_at,
        claimed_later_at = case when k.later_at <= t then 'Infinity' else k.later_at end,
        due_at = case when k.later_at <= t then 'Infinity' else k.later_at end,
        ready_at = case when k.later_at <= t then 'Infinity' else k.later_at end,
        why = k.later_why,
        later_at = 'Infinity',
        claimed_trace = k.trace, trace = null
      where k.ctid = any (ctids)
      returning k.key, k.item, k.token, k.failures, k.crashes, k.claimed_priority, k.claimed_asked_at,
        k.claimed_ready_at, k.claimed_trace
    )
    select array_agg(c.token),
      array_to_json(array_agg(c.key)
        || array_agg(case when octet_length(c.item) <= 1024 then c.item end)
        || case when count(c.claimed_trace) > 0 then array_agg(c.claimed_trace) end),
      bool_and(c.item is null or octet_length(c.item) <= 1024),
      array_agg(c.failures::float8) || array_agg(c.crashes::float8)
        || array_agg(c.claimed_priority::float8)
        || array_agg(coalesce(c.claimed_asked_at, 'Infinity')) || array_agg(c.claimed_ready_at)
    into tokens, texts, are_short, numbers
    from claimed c;
  end if;
  if in_looks > 0 then
    select min(x.lease_until), (array_agg(x.token))[in_looks] into first_end, look_before from (
      select k.token, k.lease_until from keys k
      where k.queue_id = this_queue and k.token is not null and k.token < in_before
      order by k.queue_id desc, k.token desc limit in_looks) x;
    if first_end <= t or look_before is null and in_before < 9223372036854775807 then
      select array_to_json(array_agg(x.key) filter (where x.lease_until <= t)),
        array_agg(x.token) filter (where x.lease_until <= t), (array_agg(x.token))[in_looks]
      into ended_keys, ended_tokens, look_before
      from (
        (select k.key, k.token, k.lease_until from keys k
        where k.queue_id = this_queue and k.token is not null and k.token < in_before
        order by k.queue_id desc, k.token desc limit in_looks)
        union all
        (select k.key, k.token, k.lease_until from keys k
        where k.queue_id = this_queue and k.token is not null and k.token >= in_before
        order by k.queue_id desc, k.token desc limit in_looks)
        limit in_looks) x;
    end if;
  end if;
  return next;
  if not are_short then
    return query select null::float8, null::text, null::text, null::text, null::text, null::text,
      null::bigint, x.item
    from unnest(tokens::bigint[]) with ordinality as i(token, nth) cross join lateral (
      select k.item from keys k where k.queue_id = this_queue and k.token = i.token offset 0) x
    order by i.nth;
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION claim_adopt_7ce2d897(in_queue text, in_claim_id text)
 RETURNS TABLE(key text, item text, token bigint, failures integer, crashes integer, priority integer, asked_at double precision, ready_at double precision, at double precision, trace text)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET lock_timeout TO '50ms'
AS $function$
#variable_conflict use_column
declare
  this_queue bigint := queue_number_6461402f(in_queue);
begin
  return query
    select k.key, k.item, k.token, k.failures, k.crashes, k.claimed_priority, k.claimed_asked_at,
      k.claimed_ready_at, k.lease_until, k.claimed_trace
    from keys k
    where k.queue_id = this_queue and k.token is not null and k.claim_id = in_claim_id
    order by k.claimed_priority desc, k.claimed_ready_at, k.claimed_seq;
end
$function$;

CREATE OR REPLACE FUNCTION count_pending_cc3c258b(in_queue text, in_most integer, in_lock boolean)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET lock_timeout TO '2s'
AS $function$
declare
  this_queue bigint := queue_number_6461402f(in_queue);
  setting text := format('sluice_pending.q%s_%s', 'keys'::regclass::oid, to_hex(this_queue));
  known bigint[]; drawn bigint; pending bigint; oldest bigint;
begin
  if in_lock then
    perform pg_advisory_xact_lock(this_queue # hashtextextended('count_pending', 0));
  end if;
  known := nullif(current_setting(setting, true), '');
  drawn := pg_sequence_last_value('arrival');
  pending := known[1] + drawn;
  if coalesce(pending > in_most - 10240, true) then
    select count(*), pg_snapshot_xmin(pg_current_snapshot())::text into pending, oldest from (
      (select from keys k where k.queue_id = this_queue and k.token is null and not k.parked
        and k.due_at < 'Infinity'
      order by k.queue_id, k.priority desc limit in_most)
      union all
      (select from keys k where k.queue_id = this_queue and k.token is not null
        and k.due_at < 'Infinity'
      order by k.queue_id, k.token limit in_most)
      union all
      (select from keys k where k.queue_id = this_queue and k.token is null and k.parked
        and k.due_at < 'Infinity'
      order by k.queue_id, k.key limit in_most)
      limit in_most) x;
    known[1] := case when pending < in_most and oldest > known[3] then pending - known[2] end;
  end if;
  if in_lock and pending > 1000 then
    known[2] := drawn;
    known[3] := pg_current_xact_id()::text;
    perform set_config(setting, known::text, false);
  end if;
  return pending;
end
$function$;

CREATE OR REPLACE FUNCTION counts_74c15828(in_queue text, in_cap integer, in_now double precision, in_least double precision)
 RETURNS TABLE(now double precision, ready integer, delayed integer, backoff integer, processing integer, dirty integer, parked integer, idle integer, paused boolean, oldest double precision, held_until double precision, capped boolean)
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET lock_timeout TO '50ms'
AS $function$
#variable_conflict use_column
declare
  this_queue bigint := queue_number_6461402f(in_queue);
  t float8 := present_4c1f74c0(in_now, in_least);
  n_ready int; n_delayed int; n_backoff int; n_processing int; n_dirty int; n_parked int;
  n_idle int; first_ready float8; last_lease float8;
begin
  with recursive
  levels (priority, first_at) as (
    (select k.priority, k.ready_at from keys k
    where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
    order by k.priority desc, k.ready_at, k.seq limit 1)
    union all
    select x.priority, x.ready_at from levels l cross join lateral (
      select k.priority, k.ready_at from keys k
      where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
        and k.priority < l.priority
      order by k.priority desc, k.ready_at, k.seq limit 1) x
  )
  select
    (select count(*) from (select from levels l cross join lateral (
      select from keys k
      where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
        and k.priority = l.priority and k.ready_at <= t
      order by k.ready_at, k.seq limit in_cap + 1) x
    limit in_cap + 1) y),
    (select min(l.first_at) from levels l where l.first_at <= t)
  into n_ready, first_ready;
  with recursive
  levels (priority, first_at) as (
    (select k.priority, k.ready_at from keys k
    where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
    order by k.priority desc, k.ready_at, k.seq limit 1)
    union all
    select x.priority, x.ready_at from levels l cross join lateral (
      select k.priority, k.ready_at from keys k
      where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
        and k.priority < l.priority
      order by k.priority desc, k.ready_at, k.seq limit 1) x
  )
  select count(*) filter (where y.why <> 2), count(*) filter (where y.why = 2)
  into n_delayed, n_backoff
  from (select x.why from levels l cross join lateral (
    select k.why from keys k
    where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
      and k.priority = l.priority and k.ready_at > t
    order by k.ready_at, k.seq limit 2 * in_cap + 1) x
  limit 2 * in_cap + 1) y;
  select count(*) filter (where x.due_at > t), count(*) filter (where x.due_at <= t), max(x.lease_until)
  into n_processing, n_dirty, last_lease
  from (select k.due_at, k.lease_until from keys k
    where k.queue_id = this_queue and k.token is not null limit 2 * in_cap + 1) x;
  select count(*) into n_parked from (select from keys k
    where k.queue_id = this_queue and k.token is null and k.parked limit in_cap + 1) x;
  select count(*) into n_idle from (select from keys k
    where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at = 'Infinity'
      and k.failed_at is not null limit in_cap + 1) x;
  return query select t, least(n_ready, in_cap), least(n_delayed, in_cap),
    least(n_backoff, in_cap), least(n_processing, in_cap), least(n_dirty, in_cap),
    least(n_parked, in_cap), least(n_idle, in_cap),
    exists (select from queues q where q.name = in_queue and q.paused),
    first_ready, last_lease,
    greatest(n_ready, n_delayed, n_backoff, n_processing, n_dirty, n_parked, n_idle) > in_cap;
end
$function$;

CREATE OR REPLACE FUNCTION find_locked_keys_ea2a606a(in_queue text, in_keys text[], in_create boolean)
 RETURNS SETOF text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET lock_timeout TO '1ms'
AS $function$
declare
  this_queue bigint := queue_number_6461402f(in_queue);
  free text[]; seen text[]; one text;
begin
  begin
    free := array(select x.key from unnest(in_keys) as i(key) cross join lateral (
      select k.key from keys k where k.queue_id = this_queue and k.key = i.key
      for update skip locked) x);
    raise exception 'taken back' using errcode = 'SL000';
  exception
    when sqlstate 'SL000' then null;
    when lock_not_available then
      free := '{}';
      foreach one in array in_keys loop
        begin
          perform from keys k where k.queue_id = this_queue and k.key = one
          for update skip locked;
          if found then free := free || one; end if;
          raise exception 'taken back' using errcode = 'SL000';
        exception
          when sqlstate 'SL000' or lock_not_available then null;
        end;
      end loop;
  end;
  seen := array(select x.key from unnest(in_keys) as i(key) cross join lateral (
    select k.key from keys k where k.queue_id = this_queue and k.key = i.key offset 0) x);
  return query select u.key from unnest(seen) as u(key) where u.key <> all (free);
  if not in_create then return; end if;
  foreach one in array array(select i.key from unnest(in_keys) as i(key) where i.key <> all (seen))
  loop
    begin
      insert into keys (queue_id, queue, key)
      values (this_queue, in_queue, one) on conflict do nothing;
      raise exception 'taken back' using errcode = 'SL000';
    exception
      when sqlstate 'SL000' then null;
      when lock_not_available then return next one;
    end;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION finish_done_1a76f39e(in_queue text, in_keys text[], in_tokens bigint[], in_forgets boolean[], in_indexes integer[], in_now double precision, in_least double precision)
 RETURNS TABLE(index integer, outcome integer, due_at double precision, failures integer)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET lock_timeout TO '50ms'
AS $function$
#variable_conflict use_column
declare
  this_queue bigint := queue_number_6461402f(in_queue);
  base bigint; gone int[];
begin
  if cardinality(in_keys) = 1 then
    delete from keys k
    where k.queue_id = this_queue and k.key = in_keys[1] and k.token is not distinct from in_tokens[1]
      and k.due_at = 'Infinity' and not k.parked and (in_forgets[1] or k.failures = 0)
    returning array[in_indexes[1]] into gone;
  else
    with d as (
      delete from keys k
      using (
        select this_queue as queue_id, u.* from unnest(in_keys, in_tokens, in_forgets, in_indexes)
          as u(key, token, forgets, index)
        offset 0
      ) i
      where k.queue_id = any (array[i.queue_id]) and k.key = i.key
        and k.token is not distinct from i.token
        and k.due_at = 'Infinity' and not k.parked
        and (i.forgets or k.failures = 0)
      returning i.index
    )
    select array_agg(d.index) into gone from d;
  end if;
  outcome := coalesce(cardinality(gone), 0); failures := 0;
  return next;
  if outcome = cardinality(in_keys) then return; end if;

  base := nextval('arrival');
  return query select u.index, 0, 'Infinity'::float8, 0 from unnest(gone) as u(index);
  return query
    with moment as materialized (
      select present_4c1f74c0(in_now, in_least) as t
    ), locked as materialized (
      select x.ctid, i.index, i.forgets
      from unnest(in_keys, in_tokens, in_forgets, in_indexes) as i(key, token, forgets, index)
      cross join lateral (
        select k.ctid from keys k
        where k.queue_id = this_queue and k.token = i.token and k.key = i.key
          and not (k.due_at = 'Infinity' and not k.parked
            and (i.forgets or k.failures = 0))
        for update skip locked
      ) x
    )
    update keys k set
      token = null, lease_until = null, holder = null, claim_id = null, claimed_due_at = null,
      claimed_later_at = null, claimed_ready_at = null, claimed_asked_at = null,
      claimed_seq = null, claimed_priority = null, claimed_why = null, claimed_trace = null,
      later_at = case when k.later_at <= m.t and k.due_at <= m.t then 'Infinity'
        else k.later_at end,
      ready_at = case when k.due_at <= m.t then m.t else k.ready_at end,
      seq = case when k.due_at <= m.t then base + l.index else k.seq end,
      failures = case when l.forgets then 0 else k.failures end,
      crashes = 0,
      failed_at = case when l.forgets then null else k.failed_at end
    from locked l, moment m
    where k.ctid = l.ctid
    returning l.index,
      case when k.parked then 3 when k.due_at = 'Infinity' then 0
        when k.due_at <= m.t then 1 else 2 end,
      k.due_at, k.failures;
end
$function$;

CREATE OR REPLACE FUNCTION list_9821fedf(in_queue text, in_keys text[], in_state integer, in_prefix text, in_after text, in_limit integer, in_look integer, in_now double precision, in_least double precision)
 RETURNS TABLE(now double precision, next text, word integer, state keys)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET lock_timeout TO '50ms'
AS $function$
#variable_conflict use_column
declare
  this_queue bigint := queue_number_6461402f(in_queue);
  t float8 := present_4c1f74c0(in_now, in_least);
  one keys; is_state int; matched int := 0; looked int := 0; last text; has_more boolean := false;
  cur refcursor;
  few int := case when in_state in (3, 4) then 2147483646 else 1000 end;
  names text[] := in_keys;
begin
  if in_keys is null and in_state <> 5 then
    with recursive
    levels (priority, first_at) as (
      (select k.priority, k.ready_at from keys k
      where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
      order by k.priority desc, k.ready_at, k.seq limit 1)
      union all
      select x.priority, x.ready_at from levels l cross join lateral (
        select k.priority, k.ready_at from keys k
        where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
          and k.priority < l.priority
        order by k.priority desc, k.ready_at, k.seq limit 1) x
    )
    select case when count(*) <= few
      then array(select u from unnest(array_agg(x.key)) u where u > in_after and u >= in_prefix order by u) end
    into names from (
      (select y.key from levels l cross join lateral (
        select k.key from keys k
        where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
          and k.priority = l.priority
          and k.ready_at > case in_state when 0 then '-Infinity' else t end
          and k.ready_at <= case in_state when 0 then t else 'Infinity' end
        order by k.ready_at limit few + 1) y
      where in_state < 3)
      union all
      (select k.key from keys k
      where k.queue_id = this_queue and k.token is not null and in_state in (3, 4)
      order by k.queue_id, k.token)
      union all
      (select k.key from keys k
      where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at = 'Infinity'
        and k.failed_at is not null and in_state = 6
      order by k.queue_id, k.failed_at)
      limit few + 1) x;
  end if;
  if names is not null then
    open cur for select k.* from unnest(names) as i(key) cross join lateral (
      select x.* from keys x where x.queue_id = this_queue and x.key = i.key offset 0) k;
  elsif in_state = 5 then
    open cur for select k.* from keys k where k.queue_id = this_queue and k.token is null
      and k.parked and k.key > in_after and k.key >= in_prefix order by k.queue_id, k.key;
  else
    open cur for select k.* from keys k where k.queue_id = this_queue
      and k.key > in_after and k.key >= in_prefix order by k.queue_id, k.key;
  end if;
  loop
    fetch cur into one;
    exit when not found;
    exit when in_keys is null and not starts_with(one.key, in_prefix);
    has_more := in_keys is null and looked >= in_look;
    exit when has_more;
    is_state := case
      when one.token is not null then case when one.due_at <= t then 4 else 3 end
      when one.parked then 5
      when one.due_at = 'Infinity' then 6
      when one.due_at <= t then 0
      when one.why = 2 then 2
      else 1 end;
    if in_state is null or is_state = in_state then
      has_more := in_keys is null and matched >= in_limit;
      exit when has_more;
      matched := matched + 1;
      return query select null::float8, null::text, is_state, one;
    end if;
    looked := looked + 1;
    last := one.key;
  end loop;
  close cur;
  return query select t, case when has_more then last end, null::int, null::keys;
end
$function$;

CREATE OR REPLACE FUNCTION lock_buckets_555c29d9(in_names text[], in_now double precision, in_least double precision)
 RETURNS TABLE(name text, tokens double precision, at double precision, now double precision)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
#variable_conflict use_column
declare
  t float8;
begin
  insert into buckets as b (name) select i.name from unnest(in_names) as i(name)
  on conflict (name) do update set tokens = b.tokens where false;
  t := present_4c1f74c0(in_now, in_least);
  return query select b.name, b.tokens, b.at, t from buckets b where b.name = any (in_names);
end
$function$;

CREATE OR REPLACE FUNCTION lock_keys_02ba993b(in_queue text, in_keys text[], in_create boolean, in_now double precision, in_least double precision, in_wait text)
 RETURNS TABLE(now double precision, base double precision, state keys)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET lock_timeout TO '50ms'
AS $function$
#variable_conflict use_column
declare
  this_queue bigint := queue_number_6461402f(in_queue);
begin
  perform set_config('lock_timeout', in_wait, true) where in_wait is not null;
  if in_create then
    insert into keys as k (queue_id, queue, key)
    select this_queue, in_queue, i.key from unnest(in_keys) as i(key)
    on conflict (queue_id, key) do update set change = 0 where false;
  else
    in_keys := array(select x.key from unnest(in_keys) as i(key) cross join lateral (
      select k.key from keys k where k.queue_id = this_queue and k.key = i.key
      for update) x);
  end if;
  return query select present_4c1f74c0(in_now, in_least), nextval('arrival')::float8, null::keys;
  return query
    select null::float8, null::float8, k from unnest(in_keys) as i(key) cross join lateral (
      select x from keys x where x.queue_id = this_queue and x.key = i.key offset 0) as r(k);
end
$function$;

CREATE OR REPLACE FUNCTION operate_pause_443e8492(in_queue text, in_paused boolean)
 RETURNS boolean
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET lock_timeout TO '50ms'
AS $function$
begin
  if in_paused then
    insert into queues as q (name, paused) values (in_queue, true)
    on conflict (name) do update set paused = true where not q.paused;
  else
    update queues q set paused = false where q.name = in_queue and q.paused;
  end if;
  return found;
end
$function$;

CREATE OR REPLACE FUNCTION operate_purge_dfbfd3a5(in_queue text, in_after text, in_last bigint, in_limit integer, in_wait boolean)
 RETURNS TABLE(changed integer, next text, last bigint)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET lock_timeout TO '50ms'
AS $function$
#variable_conflict use_column
declare
  this_queue bigint := queue_number_6461402f(in_queue);
  seen text[]; picks tid[]; freed int; taken int;
begin
  if in_after is null then
    in_last := nextval('arrival');
    picks := array(select k.ctid from keys k
      where k.queue_id = this_queue and k.token is not null for update skip locked);
  elsif in_wait then
    select array_agg(x.key), array_agg(x.ctid) into seen, picks from (
      select k.key, k.ctid from keys k where k.queue_id = this_queue and k.key > in_after
        and k.seq <= in_last
      order by k.queue_id, k.key limit in_limit for update) x;
  else
    select array_agg(x.key), array_agg(x.ctid) into seen, picks from (
      select k.key, k.ctid from keys k where k.queue_id = this_queue and k.key > in_after
        and k.seq <= in_last
      order by k.queue_id, k.key limit in_limit for update skip locked) x;
  end if;
  delete from keys k where k.ctid = any (picks) and k.token is null;
  get diagnostics freed = row_count;
  update keys k set due_at = 'Infinity', later_at = 'Infinity', failures = 0, crashes = 0,
    failed_at = null, parked = false, trace = null
  where k.ctid = any (picks) and k.token is not null
    and (k.due_at < 'Infinity' or k.failures > 0 or k.crashes > 0 or k.parked);
  get diagnostics taken = row_count;
  return query select freed + taken, case
    when in_after is null then ''
    when cardinality(seen) = in_limit then seen[in_limit] end, in_last;
end
$function$;

CREATE OR REPLACE FUNCTION present_4c1f74c0(given double precision, at_least double precision)
 RETURNS double precision
 LANGUAGE sql
RETURN COALESCE(given, GREATEST((((EXTRACT(epoch FROM clock_timestamp()))::double precision * (1000)::double precision) + ((COALESCE(pg_sequence_last_value('ahead'::regclass), (0)::bigint))::double precision / (1000)::double precision)), at_least));

CREATE OR REPLACE FUNCTION queue_number_6461402f(name text)
 RETURNS bigint
 LANGUAGE sql
 STABLE
RETURN ((('x'::text || encode(substr(sha256(convert_to(name, 'UTF8'::name)), 1, 8), 'hex'::text)))::bit(64))::bigint;

CREATE OR REPLACE FUNCTION queues_981c1290(in_now double precision, in_least double precision)
 RETURNS SETOF text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET lock_timeout TO '50ms'
AS $function$
declare
  t float8 := present_4c1f74c0(in_now, in_least);
begin
  return query
    with recursive found (id, name) as (
      (select k.queue_id, k.queue from keys k order by k.queue_id, k.key limit 1)
      union all
      select x.queue_id, x.queue from found f cross join lateral (
        select k.queue_id, k.queue from keys k where k.queue_id > f.id
        order by k.queue_id, k.key limit 1) x
    )
    select f.name from found f
    union select q.name from queues q where q.paused
    union select w.queue from workers w where w.seen_at >= t - 86400000;
end
$function$;

CREATE OR REPLACE FUNCTION raise_present_479922ea(in_least double precision)
 RETURNS double precision
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare
  missing float8;
begin
  perform pg_advisory_xact_lock(hashtextextended('ahead', 0));
  missing := in_least - present_4c1f74c0(null, null);
  if missing > 0 then
    perform setval('ahead', ceil((ahead_ms_a3187b88() + missing) * 1000)::bigint);
  end if;
  return ahead_ms_a3187b88();
end
$function$;

CREATE OR REPLACE FUNCTION raise_tokens_e83790a7(in_least double precision)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare
  last_token bigint; least_token bigint;
begin
  perform pg_advisory_xact_lock(hashtextextended('token is being set', 0));
  last_token := pg_sequence_last_value('token');
  if last_token is null and has_sequence_privilege('token', 'usage') then
    raise exception 'the sequences of the schema have no values, as after logical replication; run sluice migrate as its owner'
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  least_token := least((present_4c1f74c0(null, in_least) * 1000)::bigint, 9007199254740991);
  if least_token - last_token > 10000 then
    perform setval('token', least_token);
  else
    perform nextval('token') from generate_series(last_token + 1, least_token);
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION renew_49796185(in_queue text, in_keys text[], in_tokens bigint[], in_lease double precision, in_now double precision, in_least double precision)
 RETURNS TABLE(index integer, outcome integer, lease_until double precision)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET lock_timeout TO '50ms'
AS $function$
#variable_conflict use_column
declare
  this_queue bigint := queue_number_6461402f(in_queue);
  t float8 := present_4c1f74c0(in_now, in_least);
  picks tid[]; indexes int[];
begin
  select array_agg(x.ctid), array_agg(i.index) into picks, indexes
  from unnest(in_keys, in_tokens) with ordinality as i(key, token, index)
  cross join lateral (
    select k.ctid from keys k
    where k.queue_id = this_queue and k.token = i.token and k.key = i.key
    for update skip locked) x;
  return query
    update keys k set lease_until = greatest(k.lease_until, t + in_lease)
    from unnest(picks, indexes) as u(ctid, index) where k.ctid = u.ctid
    returning u.index, 0, k.lease_until;
  if coalesce(cardinality(picks), 0) = cardinality(in_keys) then return; end if;
  return query
    select i.index::int, case when x.token = i.token then 2 else 1 end, null::float8
    from unnest(in_keys, in_tokens) with ordinality as i(key, token, index)
    left join lateral (
      select k.token from keys k where k.queue_id = this_queue and k.key = i.key offset 0) x on true
    where i.index <> all (coalesce(indexes, '{}'));
end
$function$;

CREATE OR REPLACE FUNCTION tick_d6b07917(in_queue text, in_holder text, in_host text, in_pid integer, in_concurrency integer, in_info text, in_limit integer, in_expire double precision, in_now double precision, in_least double precision, in_record text, in_steps integer[], in_kept integer[], in_cap integer, in_codes integer, in_runs integer, in_runs_of_code integer, in_runs_ms double precision)
 RETURNS TABLE(kind integer, now double precision, next_at double precision, swept integer, key text, token bigint, recorded boolean)
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET lock_timeout TO '50ms'
AS $function$
#variable_conflict use_column
declare
  this_queue bigint := queue_number_6461402f(in_queue);
  t float8 := present_4c1f74c0(in_now, in_least);
  is_recorded boolean; gone int; unused text; lease_at float8; due_at float8 := 'Infinity';
begin
  if in_now is null and t - 9000 > pg_sequence_last_value('latest') / 1000.0::float8 then
    perform setval('latest', (t * 1000)::bigint);
  end if;
  if in_host is not null then
    insert into workers as w
      (queue, holder, host, pid, concurrency, info, started_at, seen_at)
    values (in_queue, in_holder, in_host, in_pid, in_concurrency, in_info, t, t)
    on conflict (queue, holder) do update set host = excluded.host, pid = excluded.pid,
      concurrency = excluded.concurrency, info = excluded.info, seen_at = excluded.seen_at;
    delete from workers w where w.queue = in_queue and w.seen_at < t - 86400000;
    unused := coalesce((select min(w.queue) from workers w where w.queue > in_queue),
      (select min(w.queue) from workers w));
    if not exists (select from workers w where w.queue = unused and w.seen_at >= t - 172800000)
      and pg_try_advisory_xact_lock(queue_number_6461402f(unused) # hashtextextended('add_record', 0)) then
      delete from history h where h.queue_id = queue_number_6461402f(unused);
      delete from failed_runs f where f.queue_id = queue_number_6461402f(unused);
      delete from workers w using (
        select x.holder from workers x
        where x.queue = unused and x.seen_at < t - 172800000 for update skip locked) o
      where w.queue = unused and w.holder = o.holder;
    end if;
  end if;
  if in_record is not null then
    is_recorded := add_record_e13ce960(in_queue, in_record, in_steps, in_kept, in_cap, in_codes, in_runs,
      in_runs_of_code, in_runs_ms, t);
  end if;
  delete from keys k where k.ctid = any (array(
    select x.ctid from keys x
    where x.queue_id = this_queue and x.token is null and not x.parked and x.due_at = 'Infinity'
      and x.failed_at is not null and x.failed_at <= t - in_expire and x.failed_at + in_expire <= t
    order by x.failed_at limit in_limit for update skip locked))
    and k.token is null and not k.parked and k.due_at = 'Infinity';
  get diagnostics gone = row_count;
  select min(k.lease_until) into lease_at from keys k
  where k.queue_id = this_queue and k.token is not null;
  if not exists (select from queues q where q.name = in_queue and q.paused) then
    with recursive
    levels (priority, first_at) as (
      (select k.priority, k.ready_at from keys k
      where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
      order by k.priority desc, k.ready_at, k.seq limit 1)
      union all
      select x.priority, x.ready_at from levels l cross join lateral (
        select k.priority, k.ready_at from keys k
        where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
          and k.priority < l.priority
        order by k.priority desc, k.ready_at, k.seq limit 1) x
    )
    select min(l.first_at) into due_at from levels l;
  end if;
  return query select 0, t, least(lease_at, due_at, 'Infinity'), gone, null::text, null::bigint,
    is_recorded;
  return query select 2, null::float8, null::float8, null::int, k.key, k.token, null::boolean
  from keys k where k.queue_id = this_queue and k.token is not null and k.lease_until <= t
  limit in_limit;
end
$function$;

CREATE OR REPLACE FUNCTION write_buckets_66cb0fcd(in_names text[], in_rates double precision[], in_bursts double precision[], in_tokens double precision[], in_at double precision[], in_unused text[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  update buckets b set per_second = u.rate, burst = u.burst, tokens = u.tokens, at = u.at
  from unnest(in_names, in_rates, in_bursts, in_tokens, in_at) as u(name, rate, burst, tokens, at)
  where b.name = u.name;
  delete from buckets b where b.name = any (in_unused) and b.tokens is null;
end
$function$;

CREATE OR REPLACE FUNCTION write_keys_c0c559b9(in_queue text, in_gone text[], in_keys text[], in_items text[], in_errors text[], in_due_at double precision[], in_why integer[], in_later_at double precision[], in_later_why integer[], in_ready_at double precision[], in_seq bigint[], in_priority integer[], in_asked_at double precision[], in_held boolean[], in_failures integer[], in_crashes integer[], in_failed_at double precision[], in_parked boolean[], in_traces text[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
 SET enable_material TO 'off'
 SET jit TO 'off'
 SET lock_timeout TO '50ms'
AS $function$
declare
  this_queue bigint := queue_number_6461402f(in_queue);
begin
  if cardinality(in_keys) > 0 then
    update keys k set
      item = case when u.item = chr(1) then k.item else u.item end,
      last_error = case when u.error = chr(1) then k.last_error else u.error end,
      due_at = u.due_at, why = u.why, later_at = u.later_at,
      later_why = u.later_why, ready_at = u.ready_at, seq = u.seq, priority = u.priority,
      asked_at = u.asked_at, failures = u.failures, crashes = u.crashes,
      failed_at = u.failed_at, parked = u.parked,
      trace = u.trace, claimed_trace = case when u.held then k.claimed_trace end,
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
      select this_queue as queue_id, i.* from unnest(
        in_keys, in_items, in_errors, in_due_at, in_why, in_later_at, in_later_why, in_ready_at,
        in_seq, in_priority, in_asked_at, in_held, in_failures, in_crashes, in_failed_at, in_parked,
        in_traces
      ) as i(
        key, item, error, due_at, why, later_at, later_why, ready_at,
        seq, priority, asked_at, held, failures, crashes, failed_at, parked, trace
      )
      offset 0
    ) u
    where k.queue_id = any (array[u.queue_id]) and k.key = u.key;
  end if;
  if cardinality(in_gone) > 0 then
    delete from keys k
    using (select this_queue as queue_id, i.key from unnest(in_gone) as i(key) offset 0) u
    where k.queue_id = any (array[u.queue_id]) and k.key = u.key;
  end if;
end
$function$;
