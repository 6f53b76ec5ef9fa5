// Generated from sql/ by tools/embed-sql; change those files instead.
import type { Migration, PublicFunction, SqlFunction } from './schema/migration.ts'

export const migrations: readonly Migration[] = [
  {
    version: 1,
    title: 'first',
    breaking: true,
    sql: `-- breaking: yes
--
-- The first schema. Instants are milliseconds since the epoch, as doubles; 'Infinity' is never.

-- The migrations that were applied.
create table sluice.migrations (
  version int primary key,
  title text not null,
  breaking boolean not null,
  applied_at timestamptz not null default clock_timestamp()
);

-- Fencing tokens. They start at the time when the schema is created, in microseconds since the epoch, so
-- that a schema that was dropped and created again gives out no token that an outside system has seen.
-- No cache: the token of a key must rise with every claim, whichever connection makes it. The last one
-- is 2^53 - 1, the greatest number that JavaScript can tell from the next: a claim beyond it fails.
create sequence sluice.token maxvalue 9007199254740991;
select setval('sluice.token', (extract(epoch from clock_timestamp()) * 1000000)::bigint);

-- Positions in the order of arrival: drawn once for each statement; the index in the batch is added.
create sequence sluice.arrival increment by 1024 start with 1024;

-- One row for each key that is pending, held, parked, or has a failure count.
--
-- The order of the columns wastes no bytes on alignment. Columns that only a held key needs are null
-- otherwise, which costs nothing in a row.
create table sluice.keys (
  -- The number of the queue, which stands for its name in every index: see functions/queue-number.sql.
  queue_id bigint not null,
  -- The pending run.
  due_at float8 not null default 'Infinity',
  later_at float8 not null default 'Infinity',
  ready_at float8 not null default 'Infinity',
  asked_at float8,
  seq bigint not null default 0,
  -- The claim that holds the key.
  token bigint,
  lease_until float8,
  -- The run that the claim took.
  claimed_due_at float8,
  claimed_later_at float8,
  claimed_ready_at float8,
  claimed_asked_at float8,
  claimed_seq bigint,
  -- When failures or crashes last rose.
  failed_at float8,
  priority int not null default 0,
  claimed_priority int,
  failures int not null default 0,
  crashes int not null default 0,
  -- The reason for due_at: 0 add, 1 delay, 2 back-off.
  why smallint not null default 0,
  later_why smallint not null default 0,
  claimed_why smallint,
  -- The outcome of the last add, for its own statement: 0 unchanged, 1 added, 2 moved, 3 parked, 4 added
  -- a row.
  change smallint not null default 0,
  parked boolean not null default false,
  key text collate "C" not null,
  -- The name of the queue, for readers of the table.
  queue text collate "C" not null,
  -- JSON text. Not jsonb, which changes some numbers and refuses some strings.
  item text,
  holder text collate "C",
  claim_id text collate "C",
  last_error text,
  -- The trace contexts of the first and the last add of the pending run, and of the claimed one.
  trace text,
  claimed_trace text,
  primary key (queue_id, key)
) with (
  -- Room on each page for renewed leases to stay where they are.
  fillfactor = 70,
  -- A queue replaces all rows of its table many times an hour: vacuum after 5,000 dead rows, whatever
  -- the size of the table, and without pauses.
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_threshold = -1,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 50000
);

-- A row is in at most one of the following four indexes. No column that a renewal changes is in any, so
-- that a renewed row needs no new index entry (HOT).

-- Keys to be claimed, now or later, in the order of claims.
create index keys_waiting on sluice.keys (queue_id, priority desc, ready_at, seq)
  where token is null and not parked and due_at < 'Infinity';

-- Held keys, by token, so that new claims are appended, where adding to an index is cheapest.
create index keys_held on sluice.keys (queue_id, token) where token is not null;

-- Parked keys.
create index keys_parked on sluice.keys (queue_id, key) where token is null and parked;

-- Keys of which only a failure count is left, the oldest first.
create index keys_idle on sluice.keys (queue_id, failed_at)
  where token is null and not parked and due_at = 'Infinity' and failed_at is not null;

-- The settings of a queue; one without a row is not paused.
create table sluice.queues (
  name text collate "C" primary key,
  paused boolean not null default false
);

-- Token buckets, shared by name.
create table sluice.buckets (
  name text collate "C" primary key,
  per_second float8,
  burst float8,
  -- Null in a row that was created only to be locked.
  tokens float8,
  at float8
) with (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- The workers of each queue.
create table sluice.workers (
  queue text collate "C" not null,
  holder text collate "C" not null,
  host text not null,
  pid int not null,
  concurrency int not null,
  -- The worker's settings and statistics, as JSON.
  info text not null,
  started_at float8 not null,
  seen_at float8 not null,
  primary key (queue, holder)
) with (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- What the workers of a queue did during one step of time; step_ms is its length, at its beginning.
create table sluice.history (
  queue_id bigint not null,
  at float8 not null,
  started bigint not null,
  done bigint not null,
  failed bigint not null,
  added bigint not null,
  merged bigint not null,
  expired bigint not null,
  -- For how long the key that had been ready longest had been so.
  oldest_ms float8 not null,
  step_ms int not null,
  -- How many keys were in the queue.
  ready int not null,
  delayed int not null,
  held int not null,
  parked int not null,
  capped boolean not null,
  paused boolean not null,
  -- The codes of the errors of failed runs with their counts, as JSON.
  codes text not null,
  primary key (queue_id, step_ms, at)
) with (fillfactor = 80, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- Failed runs, of which the newest are kept.
create table sluice.failed_runs (
  queue_id bigint not null,
  id bigint generated always as identity,
  at float8 not null,
  failures int not null,
  key text collate "C" not null,
  code text collate "C" not null,
  holder text collate "C" not null,
  last_error text not null,
  primary key (queue_id, id)
) with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- By how many microseconds the store's time is ahead of the server's clock: more than 0 after that clock
-- was set back. And the newest present that a tick has noted. Sequences rather than a row: every
-- statement reads the first one, without a snapshot and without a plan.
create sequence sluice.ahead minvalue 0 start 0;
select setval('sluice.ahead', 0);
create sequence sluice.latest;
select setval('sluice.latest', (extract(epoch from clock_timestamp()) * 1000000)::bigint);`,
  },
]

export const sqlFunctions: readonly SqlFunction[] = [
  {
    name: 'check_names_a96c6c20',
    sql: `create or replace function sluice.check_names_a96c6c20(in_queue text, in_keys text[])
returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
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
$body$;`,
  },
  {
    name: 'queue_number_6461402f',
    sql: `create or replace function sluice.queue_number_6461402f(name text) returns bigint language sql stable
return cast(cast('x' operator(pg_catalog.||) pg_catalog.encode(
  pg_catalog.substr(pg_catalog.sha256(pg_catalog.convert_to(name, 'UTF8')), 1, 8), 'hex'
) as bit(64)) as bigint);`,
  },
  {
    name: 'present_4c1f74c0',
    sql: `create or replace function sluice.present_4c1f74c0(given float8, at_least float8) returns float8 language sql volatile
return coalesce(given, greatest(
  (cast(extract(epoch from pg_catalog.clock_timestamp()) as float8)
    operator(pg_catalog.*) cast(1000 as float8))
  operator(pg_catalog.+)
  (cast(coalesce(pg_catalog.pg_sequence_last_value('sluice.ahead'), 0) as float8)
    operator(pg_catalog./) cast(1000 as float8)),
  at_least));`,
  },
  {
    name: 'add_waiting_02acf7f2',
    sql: `create or replace function sluice.add_waiting_02acf7f2(
  in_queue text, in_keys text[], in_items text[], in_priorities int[], in_delays float8[],
  in_indexes int[], in_twice boolean, in_expire float8, in_now float8, in_least float8,
  in_channel text, in_notice text, in_traces text[]
) returns table (key text, outcome int, due_at float8, failures int) language plpgsql
set search_path = pg_catalog, pg_temp
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
  this_queue bigint := sluice.queue_number_6461402f(in_queue);
  t float8 := sluice.present_4c1f74c0(in_now, in_least);
  base bigint := nextval('sluice.arrival');
  by_server boolean := in_now is null;
  n_keys text[]; changes smallint[]; dues float8[]; fails int[]; fresh bigint; wakes boolean;
begin
  if cardinality(in_keys) = 1 then
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
    insert into sluice.keys as k
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
        select x.* from sluice.keys x where x.queue_id = this_queue and x.key = i.key offset 0) k;
  end if;
end
$body$;`,
  },
  {
    name: 'add_checked_89076fea',
    sql: `create or replace function sluice.add_checked_89076fea(
  in_queue text, in_keys text[], in_items jsonb[], in_delay interval, in_priority int, in_dedupe text
) returns table (key text, outcome text) language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
  keys_step constant int := 1000;
  delay_max constant float8 := 315576000000;
  delay_ms float8 := extract(epoch from in_delay) * 1000;
  wrong text; step_keys text[]; step_items text[]; step_indexes int[];
begin
  perform sluice.check_names_a96c6c20(in_queue, in_keys);
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
        from batch b cross join lateral sluice.add_waiting_02acf7f2(
          in_queue, b.keys, b.items, array_fill(in_priority, array[b.size]),
          array_fill(delay_ms, array[b.size]), b.indexes, in_dedupe = 'client-go', 86400000,
          null, pg_sequence_last_value('sluice.latest') / 1000.0::float8,
          'sluice_channel', 'q' || in_queue, null) with ordinality as a(key, outcome, due_at, failures, n)
      ), firsts as materialized (
        select distinct on (w.key) w.key, w.outcome from written w where w.key is not null
        order by w.key, w.n
      )
      select p.key, (array['unchanged', 'added', 'moved', 'parked', 'added'])[coalesce(f.outcome, 4) + 1]
      from part p left join firsts f on f.key = p.key order by p.index;
  end loop;
end
$body$;`,
  },
  {
    name: 'add_codes_424b135c',
    sql: `create or replace function sluice.add_codes_424b135c(in_a jsonb, in_b jsonb, in_codes int) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
set lock_timeout = '50ms'
as $body$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_array(s.code, s.failed) order by s.failed desc, s.code),
      '[]')::text
    from (
      select (p ->> 0) collate "C" as code, sum((p ->> 1)::bigint) as failed
      from jsonb_array_elements(in_a || in_b) as e(p)
      group by 1 order by 2 desc, 1 limit in_codes) s);
end
$body$;`,
  },
  {
    name: 'counts_74c15828',
    sql: `create or replace function sluice.counts_74c15828(in_queue text, in_cap int, in_now float8, in_least float8) returns table (
  now float8, ready int, delayed int, backoff int, processing int, dirty int, parked int, idle int,
  paused boolean, oldest float8, held_until float8, capped boolean
) language plpgsql stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number_6461402f(in_queue);
  t float8 := sluice.present_4c1f74c0(in_now, in_least);
  n_ready int; n_delayed int; n_backoff int; n_processing int; n_dirty int; n_parked int;
  n_idle int; first_ready float8; last_lease float8;
begin
  with recursive
  levels (priority, first_at) as (
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
  with recursive
  levels (priority, first_at) as (
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
  select count(*) filter (where y.why <> 2), count(*) filter (where y.why = 2)
  into n_delayed, n_backoff
  from (select x.why from levels l cross join lateral (
    select k.why from sluice.keys k
    where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
      and k.priority = l.priority and k.ready_at > t
    order by k.ready_at, k.seq limit 2 * in_cap + 1) x
  limit 2 * in_cap + 1) y;
  select count(*) filter (where x.due_at > t), count(*) filter (where x.due_at <= t), max(x.lease_until)
  into n_processing, n_dirty, last_lease
  from (select k.due_at, k.lease_until from sluice.keys k
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
    first_ready, last_lease,
    greatest(n_ready, n_delayed, n_backoff, n_processing, n_dirty, n_parked, n_idle) > in_cap;
end
$body$;`,
  },
  {
    name: 'add_record_e13ce960',
    sql: `create or replace function sluice.add_record_e13ce960(
  in_queue text, in_record text, in_steps int[], in_kept int[], in_cap int, in_codes int,
  in_runs int, in_runs_of_code int, in_runs_ms float8, in_now float8
) returns boolean language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number_6461402f(in_queue);
  work jsonb := in_record::jsonb;
  depth record;
  step int; kept int; first_at float8; n int;
begin
  if not pg_try_advisory_xact_lock(this_queue # hashtextextended('sluice.add_record', 0)) then
    return false;
  end if;
  first_at := floor(in_now / in_steps[1]) * in_steps[1];
  select h.ready, h.delayed, h.held, h.parked, h.oldest_ms, h.capped, h.paused into depth from sluice.history h
  where h.queue_id = this_queue and h.step_ms = in_steps[1] and h.at = first_at;
  if not found then
    select c.ready, c.delayed + c.backoff as delayed, c.processing + c.dirty as held, c.parked,
      case when c.oldest < 'Infinity' then greatest(0, in_now - c.oldest) else 0 end as oldest_ms, c.capped, c.paused
    into depth from sluice.counts_74c15828(in_queue, in_cap, in_now, null) c;
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
      sluice.add_codes_424b135c('[]', work -> 'codes', in_codes))
    on conflict (queue_id, step_ms, at) do update set
      started = h.started + excluded.started, done = h.done + excluded.done,
      failed = h.failed + excluded.failed, added = h.added + excluded.added,
      merged = h.merged + excluded.merged, expired = h.expired + excluded.expired,
      ready = excluded.ready, delayed = excluded.delayed, held = excluded.held,
      parked = excluded.parked, oldest_ms = excluded.oldest_ms, capped = excluded.capped,
      paused = excluded.paused,
      codes = case when work -> 'codes' = '[]' then h.codes
        else sluice.add_codes_424b135c(h.codes::jsonb, work -> 'codes', in_codes) end;
    delete from sluice.history h
    where h.queue_id = this_queue and h.step_ms = step and h.at <= first_at - step::float8 * kept;
  end loop;
  delete from sluice.failed_runs f where f.queue_id = this_queue and f.at <= in_now - in_runs_ms;
  if work -> 'failedRuns' = '[]' then
    return true;
  end if;
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
$body$;`,
  },
  {
    name: 'add_00034e40',
    sql: `create or replace function sluice.add_00034e40(
  in_queue text, in_keys text[], in_items text[], in_priorities int[], in_delays float8[],
  in_indexes int[], in_twice boolean, in_expire float8, in_now float8, in_least float8,
  in_channel text, in_notice text, in_traces text[]
) returns table (key text, outcome int, due_at float8, failures int) language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number_6461402f(in_queue);
  t float8 := sluice.present_4c1f74c0(in_now, in_least);
  base bigint := nextval('sluice.arrival');
  by_server boolean := in_now is null;
  n_keys text[]; changes smallint[]; dues float8[]; fails int[]; fresh bigint; wakes boolean;
begin
  if cardinality(in_keys) = 1 then
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
    insert into sluice.keys as k
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
        select x.* from sluice.keys x where x.queue_id = this_queue and x.key = i.key offset 0) k;
  end if;
end
$body$;`,
  },
  {
    name: 'ahead_ms_a3187b88',
    sql: `create or replace function sluice.ahead_ms_a3187b88() returns float8 language sql volatile
return cast(coalesce(pg_catalog.pg_sequence_last_value('sluice.ahead'), 0) as float8)
  operator(pg_catalog./) cast(1000 as float8);`,
  },
  {
    name: 'claim_adopt_7ce2d897',
    sql: `create or replace function sluice.claim_adopt_7ce2d897(in_queue text, in_claim_id text) returns table (
  key text, item text, token bigint, failures int, crashes int, priority int, asked_at float8,
  ready_at float8, at float8, trace text
) language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number_6461402f(in_queue);
begin
  return query
    select k.key, k.item, k.token, k.failures, k.crashes, k.claimed_priority, k.claimed_asked_at,
      k.claimed_ready_at, k.lease_until, k.claimed_trace
    from sluice.keys k
    where k.queue_id = this_queue and k.token is not null and k.claim_id = in_claim_id
    order by k.claimed_priority desc, k.claimed_ready_at, k.claimed_seq;
end
$body$;`,
  },
  {
    name: 'claim_5ca892a5',
    sql: `create or replace function sluice.claim_5ca892a5(
  in_queue text, in_limit int, in_holder text, in_claim_id text, in_lease float8,
  in_due_by float8, in_before bigint, in_looks int, in_now float8, in_least float8
) returns table (
  now float8, tokens text, texts text, numbers text, ended_keys text, ended_tokens text,
  look_before bigint, item text
) language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number_6461402f(in_queue);
  t float8 := sluice.present_4c1f74c0(in_now, in_least);
  level int; first_at float8; below bigint := 2147483648;
  picks tid[]; crashes_max int := 1;
  ctids tid[]; drawn bigint[]; are_short boolean; first_end float8;
begin
  now := t;
  loop
    select k.priority, k.ready_at into level, first_at from sluice.keys k
    where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
      and k.priority < below
      and not exists (select from sluice.queues q where q.name = in_queue and q.paused)
    order by k.priority desc, k.ready_at, k.seq limit 1;
    exit when not found;
    if first_at <= t then
      picks := picks || array(
        select case when k.crashes <= crashes_max then k.ctid end from sluice.keys k
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
    update sluice.keys k set
      token = nextval('sluice.token'),
      seq = case when k.later_at < 'Infinity' then nextval('sluice.arrival') + 1 else k.seq end,
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
    from (select u.ctid, nextval('sluice.token') as token from unnest(picks) as u(ctid) offset 0) n;
    with claimed as (
      update sluice.keys k set
        token = drawn[width_bucket(k.ctid, ctids)],
        seq = case when k.later_at < 'Infinity'
          then (select nextval('sluice.arrival')) + array_position(picks, k.ctid) else k.seq end,
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
      select k.token, k.lease_until from sluice.keys k
      where k.queue_id = this_queue and k.token is not null and k.token < in_before
      order by k.queue_id desc, k.token desc limit in_looks) x;
    if first_end <= t or look_before is null and in_before < 9223372036854775807 then
      select array_to_json(array_agg(x.key) filter (where x.lease_until <= t)),
        array_agg(x.token) filter (where x.lease_until <= t), (array_agg(x.token))[in_looks]
      into ended_keys, ended_tokens, look_before
      from (
        (select k.key, k.token, k.lease_until from sluice.keys k
        where k.queue_id = this_queue and k.token is not null and k.token < in_before
        order by k.queue_id desc, k.token desc limit in_looks)
        union all
        (select k.key, k.token, k.lease_until from sluice.keys k
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
      select k.item from sluice.keys k where k.queue_id = this_queue and k.token = i.token offset 0) x
    order by i.nth;
  end if;
end
$body$;`,
  },
  {
    name: 'count_pending_cc3c258b',
    sql: `create or replace function sluice.count_pending_cc3c258b(in_queue text, in_most int, in_lock boolean) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
set lock_timeout = '2s'
as $body$
declare
  this_queue bigint := sluice.queue_number_6461402f(in_queue);
  setting text := format('sluice_pending.q%s_%s', 'sluice.keys'::regclass::oid, to_hex(this_queue));
  known bigint[]; drawn bigint; pending bigint; oldest bigint;
begin
  if in_lock then
    perform pg_advisory_xact_lock(this_queue # hashtextextended('sluice.count_pending', 0));
  end if;
  known := nullif(current_setting(setting, true), '');
  drawn := pg_sequence_last_value('sluice.arrival');
  pending := known[1] + drawn;
  if coalesce(pending > in_most - 10240, true) then
    select count(*), pg_snapshot_xmin(pg_current_snapshot())::text into pending, oldest from (
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
$body$;`,
  },
  {
    name: 'find_locked_keys_ea2a606a',
    sql: `create or replace function sluice.find_locked_keys_ea2a606a(in_queue text, in_keys text[], in_create boolean)
returns setof text language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
set lock_timeout = '1ms'
as $body$
declare
  this_queue bigint := sluice.queue_number_6461402f(in_queue);
  free text[]; seen text[]; one text;
begin
  begin
    free := array(select x.key from unnest(in_keys) as i(key) cross join lateral (
      select k.key from sluice.keys k where k.queue_id = this_queue and k.key = i.key
      for update skip locked) x);
    raise exception 'taken back' using errcode = 'SL000';
  exception
    when sqlstate 'SL000' then null;
    when lock_not_available then
      free := '{}';
      foreach one in array in_keys loop
        begin
          perform from sluice.keys k where k.queue_id = this_queue and k.key = one
          for update skip locked;
          if found then free := free || one; end if;
          raise exception 'taken back' using errcode = 'SL000';
        exception
          when sqlstate 'SL000' or lock_not_available then null;
        end;
      end loop;
  end;
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
$body$;`,
  },
  {
    name: 'finish_done_1a76f39e',
    sql: `create or replace function sluice.finish_done_1a76f39e(
  in_queue text, in_keys text[], in_tokens bigint[], in_forgets boolean[], in_indexes int[],
  in_now float8, in_least float8
) returns table (index int, outcome int, due_at float8, failures int) language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number_6461402f(in_queue);
  base bigint; gone int[];
begin
  if cardinality(in_keys) = 1 then
    delete from sluice.keys k
    where k.queue_id = this_queue and k.key = in_keys[1] and k.token is not distinct from in_tokens[1]
      and k.due_at = 'Infinity' and not k.parked and (in_forgets[1] or k.failures = 0)
    returning array[in_indexes[1]] into gone;
  else
    with d as (
      delete from sluice.keys k
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

  base := nextval('sluice.arrival');
  return query select u.index, 0, 'Infinity'::float8, 0 from unnest(gone) as u(index);
  return query
    with moment as materialized (
      select sluice.present_4c1f74c0(in_now, in_least) as t
    ), locked as materialized (
      select x.ctid, i.index, i.forgets
      from unnest(in_keys, in_tokens, in_forgets, in_indexes) as i(key, token, forgets, index)
      cross join lateral (
        select k.ctid from sluice.keys k
        where k.queue_id = this_queue and k.token = i.token and k.key = i.key
          and not (k.due_at = 'Infinity' and not k.parked
            and (i.forgets or k.failures = 0))
        for update skip locked
      ) x
    )
    update sluice.keys k set
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
$body$;`,
  },
  {
    name: 'list_9821fedf',
    sql: `create or replace function sluice.list_9821fedf(
  in_queue text, in_keys text[], in_state int, in_prefix text, in_after text, in_limit int,
  in_look int, in_now float8, in_least float8
) returns table (now float8, next text, word int, state sluice.keys) language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number_6461402f(in_queue);
  t float8 := sluice.present_4c1f74c0(in_now, in_least);
  one sluice.keys; is_state int; matched int := 0; looked int := 0; last text; has_more boolean := false;
  cur refcursor;
  few int := case when in_state in (3, 4) then 2147483646 else 1000 end;
  names text[] := in_keys;
begin
  if in_keys is null and in_state <> 5 then
    with recursive
    levels (priority, first_at) as (
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
    select case when count(*) <= few
      then array(select u from unnest(array_agg(x.key)) u where u > in_after and u >= in_prefix order by u) end
    into names from (
      (select y.key from levels l cross join lateral (
        select k.key from sluice.keys k
        where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at < 'Infinity'
          and k.priority = l.priority
          and k.ready_at > case in_state when 0 then '-Infinity' else t end
          and k.ready_at <= case in_state when 0 then t else 'Infinity' end
        order by k.ready_at limit few + 1) y
      where in_state < 3)
      union all
      (select k.key from sluice.keys k
      where k.queue_id = this_queue and k.token is not null and in_state in (3, 4)
      order by k.queue_id, k.token)
      union all
      (select k.key from sluice.keys k
      where k.queue_id = this_queue and k.token is null and not k.parked and k.due_at = 'Infinity'
        and k.failed_at is not null and in_state = 6
      order by k.queue_id, k.failed_at)
      limit few + 1) x;
  end if;
  if names is not null then
    open cur for select k.* from unnest(names) as i(key) cross join lateral (
      select x.* from sluice.keys x where x.queue_id = this_queue and x.key = i.key offset 0) k;
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
  return query select t, case when has_more then last end, null::int, null::sluice.keys;
end
$body$;`,
  },
  {
    name: 'lock_buckets_555c29d9',
    sql: `create or replace function sluice.lock_buckets_555c29d9(in_names text[], in_now float8, in_least float8)
returns table (name text, tokens float8, at float8, now float8) language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $body$
#variable_conflict use_column
declare
  t float8;
begin
  insert into sluice.buckets as b (name) select i.name from unnest(in_names) as i(name)
  on conflict (name) do update set tokens = b.tokens where false;
  t := sluice.present_4c1f74c0(in_now, in_least);
  return query select b.name, b.tokens, b.at, t from sluice.buckets b where b.name = any (in_names);
end
$body$;`,
  },
  {
    name: 'lock_keys_02ba993b',
    sql: `create or replace function sluice.lock_keys_02ba993b(
  in_queue text, in_keys text[], in_create boolean, in_now float8, in_least float8, in_wait text
) returns table (now float8, base float8, state sluice.keys) language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number_6461402f(in_queue);
begin
  perform set_config('lock_timeout', in_wait, true) where in_wait is not null;
  if in_create then
    insert into sluice.keys as k (queue_id, queue, key)
    select this_queue, in_queue, i.key from unnest(in_keys) as i(key)
    on conflict (queue_id, key) do update set change = 0 where false;
  else
    in_keys := array(select x.key from unnest(in_keys) as i(key) cross join lateral (
      select k.key from sluice.keys k where k.queue_id = this_queue and k.key = i.key
      for update) x);
  end if;
  return query select sluice.present_4c1f74c0(in_now, in_least), nextval('sluice.arrival')::float8, null::sluice.keys;
  return query
    select null::float8, null::float8, k from unnest(in_keys) as i(key) cross join lateral (
      select x from sluice.keys x where x.queue_id = this_queue and x.key = i.key offset 0) as r(k);
end
$body$;`,
  },
  {
    name: 'operate_pause_443e8492',
    sql: `create or replace function sluice.operate_pause_443e8492(in_queue text, in_paused boolean) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
set lock_timeout = '50ms'
as $body$
begin
  if in_paused then
    insert into sluice.queues as q (name, paused) values (in_queue, true)
    on conflict (name) do update set paused = true where not q.paused;
  else
    update sluice.queues q set paused = false where q.name = in_queue and q.paused;
  end if;
  return found;
end
$body$;`,
  },
  {
    name: 'operate_purge_dfbfd3a5',
    sql: `create or replace function sluice.operate_purge_dfbfd3a5(
  in_queue text, in_after text, in_last bigint, in_limit int, in_wait boolean
) returns table (changed int, next text, last bigint) language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number_6461402f(in_queue);
  seen text[]; picks tid[]; freed int; taken int;
begin
  if in_after is null then
    in_last := nextval('sluice.arrival');
    picks := array(select k.ctid from sluice.keys k
      where k.queue_id = this_queue and k.token is not null for update skip locked);
  elsif in_wait then
    select array_agg(x.key), array_agg(x.ctid) into seen, picks from (
      select k.key, k.ctid from sluice.keys k where k.queue_id = this_queue and k.key > in_after
        and k.seq <= in_last
      order by k.queue_id, k.key limit in_limit for update) x;
  else
    select array_agg(x.key), array_agg(x.ctid) into seen, picks from (
      select k.key, k.ctid from sluice.keys k where k.queue_id = this_queue and k.key > in_after
        and k.seq <= in_last
      order by k.queue_id, k.key limit in_limit for update skip locked) x;
  end if;
  delete from sluice.keys k where k.ctid = any (picks) and k.token is null;
  get diagnostics freed = row_count;
  update sluice.keys k set due_at = 'Infinity', later_at = 'Infinity', failures = 0, crashes = 0,
    failed_at = null, parked = false, trace = null
  where k.ctid = any (picks) and k.token is not null
    and (k.due_at < 'Infinity' or k.failures > 0 or k.crashes > 0 or k.parked);
  get diagnostics taken = row_count;
  return query select freed + taken, case
    when in_after is null then ''
    when cardinality(seen) = in_limit then seen[in_limit] end, in_last;
end
$body$;`,
  },
  {
    name: 'queues_981c1290',
    sql: `create or replace function sluice.queues_981c1290(in_now float8, in_least float8) returns setof text
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
set lock_timeout = '50ms'
as $body$
declare
  t float8 := sluice.present_4c1f74c0(in_now, in_least);
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
    union select w.queue from sluice.workers w where w.seen_at >= t - 86400000;
end
$body$;`,
  },
  {
    name: 'raise_present_479922ea',
    sql: `create or replace function sluice.raise_present_479922ea(in_least float8) returns float8 language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $body$
declare
  missing float8;
begin
  perform pg_advisory_xact_lock(hashtextextended('sluice.ahead', 0));
  missing := in_least - sluice.present_4c1f74c0(null, null);
  if missing > 0 then
    perform setval('sluice.ahead', ceil((sluice.ahead_ms_a3187b88() + missing) * 1000)::bigint);
  end if;
  return sluice.ahead_ms_a3187b88();
end
$body$;`,
  },
  {
    name: 'raise_tokens_e83790a7',
    sql: `create or replace function sluice.raise_tokens_e83790a7(in_least float8) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $body$
declare
  last_token bigint; least_token bigint;
begin
  perform pg_advisory_xact_lock(hashtextextended('sluice.token is being set', 0));
  last_token := pg_sequence_last_value('sluice.token');
  if last_token is null and has_sequence_privilege('sluice.token', 'usage') then
    raise exception 'the sequences of the schema have no values, as after logical replication; run sluice migrate as its owner'
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  least_token := least((sluice.present_4c1f74c0(null, in_least) * 1000)::bigint, 9007199254740991);
  if least_token - last_token > 10000 then
    perform setval('sluice.token', least_token);
  else
    perform nextval('sluice.token') from generate_series(last_token + 1, least_token);
  end if;
end
$body$;`,
  },
  {
    name: 'renew_49796185',
    sql: `create or replace function sluice.renew_49796185(
  in_queue text, in_keys text[], in_tokens bigint[], in_lease float8, in_now float8, in_least float8
) returns table (index int, outcome int, lease_until float8) language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number_6461402f(in_queue);
  t float8 := sluice.present_4c1f74c0(in_now, in_least);
  picks tid[]; indexes int[];
begin
  select array_agg(x.ctid), array_agg(i.index) into picks, indexes
  from unnest(in_keys, in_tokens) with ordinality as i(key, token, index)
  cross join lateral (
    select k.ctid from sluice.keys k
    where k.queue_id = this_queue and k.token = i.token and k.key = i.key
    for update skip locked) x;
  return query
    update sluice.keys k set lease_until = greatest(k.lease_until, t + in_lease)
    from unnest(picks, indexes) as u(ctid, index) where k.ctid = u.ctid
    returning u.index, 0, k.lease_until;
  if coalesce(cardinality(picks), 0) = cardinality(in_keys) then return; end if;
  return query
    select i.index::int, case when x.token = i.token then 2 else 1 end, null::float8
    from unnest(in_keys, in_tokens) with ordinality as i(key, token, index)
    left join lateral (
      select k.token from sluice.keys k where k.queue_id = this_queue and k.key = i.key offset 0) x on true
    where i.index <> all (coalesce(indexes, '{}'));
end
$body$;`,
  },
  {
    name: 'tick_d6b07917',
    sql: `create or replace function sluice.tick_d6b07917(
  in_queue text, in_holder text, in_host text, in_pid int, in_concurrency int, in_info text,
  in_limit int, in_expire float8, in_now float8, in_least float8, in_record text, in_steps int[],
  in_kept int[], in_cap int, in_codes int, in_runs int, in_runs_of_code int, in_runs_ms float8
) returns table (
  kind int, now float8, next_at float8, swept int, key text, token bigint,
  recorded boolean
) language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number_6461402f(in_queue);
  t float8 := sluice.present_4c1f74c0(in_now, in_least);
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
    unused := coalesce((select min(w.queue) from sluice.workers w where w.queue > in_queue),
      (select min(w.queue) from sluice.workers w));
    if not exists (select from sluice.workers w where w.queue = unused and w.seen_at >= t - 172800000)
      and pg_try_advisory_xact_lock(sluice.queue_number_6461402f(unused) # hashtextextended('sluice.add_record', 0)) then
      delete from sluice.history h where h.queue_id = sluice.queue_number_6461402f(unused);
      delete from sluice.failed_runs f where f.queue_id = sluice.queue_number_6461402f(unused);
      delete from sluice.workers w using (
        select x.holder from sluice.workers x
        where x.queue = unused and x.seen_at < t - 172800000 for update skip locked) o
      where w.queue = unused and w.holder = o.holder;
    end if;
  end if;
  if in_record is not null then
    is_recorded := sluice.add_record_e13ce960(in_queue, in_record, in_steps, in_kept, in_cap, in_codes, in_runs,
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
    levels (priority, first_at) as (
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
  return query select 0, t, least(lease_at, due_at, 'Infinity'), gone, null::text, null::bigint,
    is_recorded;
  return query select 2, null::float8, null::float8, null::int, k.key, k.token, null::boolean
  from sluice.keys k where k.queue_id = this_queue and k.token is not null and k.lease_until <= t
  limit in_limit;
end
$body$;`,
  },
  {
    name: 'write_buckets_66cb0fcd',
    sql: `create or replace function sluice.write_buckets_66cb0fcd(
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
$body$;`,
  },
  {
    name: 'write_keys_c0c559b9',
    sql: `create or replace function sluice.write_keys_c0c559b9(
  in_queue text, in_gone text[], in_keys text[], in_items text[], in_errors text[],
  in_due_at float8[], in_why int[], in_later_at float8[], in_later_why int[],
  in_ready_at float8[], in_seq bigint[], in_priority int[], in_asked_at float8[],
  in_held boolean[], in_failures int[], in_crashes int[], in_failed_at float8[],
  in_parked boolean[], in_traces text[]
) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set enable_material = off
set jit = off
set lock_timeout = '50ms'
as $body$
declare
  this_queue bigint := sluice.queue_number_6461402f(in_queue);
begin
  if cardinality(in_keys) > 0 then
    update sluice.keys k set
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
    delete from sluice.keys k
    using (select this_queue as queue_id, i.key from unnest(in_gone) as i(key) offset 0) u
    where k.queue_id = any (array[u.queue_id]) and k.key = u.key;
  end if;
end
$body$;`,
  },
]

export const publicFunctions: readonly PublicFunction[] = [
  {
    name: 'add_after',
    argumentTypes: 'text, text, interval, jsonb, int, text',
    summary: 'Adds a key to a queue, due after a delay: returns added, moved, unchanged or parked.',
    interface: 1,
    hash: '273c429f',
    sql: `create or replace function sluice.add_after(
  queue text, key text, delay interval, item jsonb default null, priority int default 0,
  dedupe text default 'client-go'
) returns text language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
select a.outcome from sluice.add_checked_89076fea(
  $1, array[$2], case when $4 is not null then array[$4] end, $3, $5, $6) a
$body$;`,
  },
  {
    name: 'add_many',
    argumentTypes: 'text, text[], jsonb[], interval, int, text',
    summary: 'Adds any number of keys to a queue: returns each key once, with its outcome.',
    interface: 1,
    hash: 'b8219121',
    sql: `create or replace function sluice.add_many(
  queue text, keys text[], items jsonb[] default null, delay interval default '0',
  priority int default 0, dedupe text default 'client-go'
) returns table (key text, outcome text) language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
select a.key, a.outcome from sluice.add_checked_89076fea($1, $2, $3, $4, $5, $6) a
$body$;`,
  },
  {
    name: 'add',
    argumentTypes: 'text, text, jsonb, int, text',
    summary: 'Adds a key to a queue: returns added, moved, unchanged or parked.',
    interface: 1,
    hash: '7be1cff8',
    sql: `create or replace function sluice.add(
  queue text, key text, item jsonb default null, priority int default 0,
  dedupe text default 'client-go'
) returns text language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
select a.outcome from sluice.add_checked_89076fea(
  $1, array[$2], case when $3 is not null then array[$3] end, '0', $4, $5) a
$body$;`,
  },
  {
    name: 'cancel',
    argumentTypes: 'text, text',
    summary: 'Removes the pending runs of a key: returns cancelled or unchanged.',
    interface: 1,
    hash: 'e0cd2b94',
    sql: `create or replace function sluice.cancel(queue text, key text)
returns text language plpgsql security definer
set search_path = pg_catalog, pg_temp
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
  in_queue constant text := $1;
  in_key constant text := $2;
  this_queue bigint; row sluice.keys;
begin
  perform sluice.check_names_a96c6c20(in_queue, array[in_key]);
  this_queue := sluice.queue_number_6461402f(in_queue);
  select k.* into row from sluice.keys k where k.queue_id = this_queue and k.key = in_key for update;
  if not found or row.due_at = 'Infinity' then return 'unchanged'; end if;
  if row.token is null and row.failures = 0 and row.crashes = 0 and not row.parked then
    delete from sluice.keys k where k.queue_id = this_queue and k.key = in_key;
  else
    update sluice.keys k set due_at = 'Infinity', later_at = 'Infinity', trace = null
    where k.queue_id = this_queue and k.key = in_key;
  end if;
  return 'cancelled';
end
$body$;`,
  },
]

export const statementTexts = {
  add: 'select key, outcome, due_at, failures from sluice.add_00034e40( $1::text, $2::text[], $3::text[], $4::int[], $5::float8[], $6::int[], $7::boolean, $8::float8, $9::float8, $10::float8, $11::text, $12::text, $13::text[])',
  buckets: 'select name, per_second, burst, tokens, at from sluice.buckets where tokens is not null order by name',
  claimAdopt: 'select key, item, token, failures, crashes, priority, asked_at, ready_at, at, trace from sluice.claim_adopt_7ce2d897($1::text, $2::text)',
  claim: 'select now, tokens, texts, numbers, ended_keys, ended_tokens, look_before, item from sluice.claim_5ca892a5( $1::text, $2::int, $3::text, $4::text, $5::float8, $6::float8, $7::bigint, $8::int, $9::float8, $10::float8)',
  countPending: 'select sluice.count_pending_cc3c258b($1::text, $2::int, $3::boolean) as pending',
  counts: 'select now, ready, delayed, backoff, processing, dirty, parked, idle, paused, oldest, held_until, capped, sluice.ahead_ms_a3187b88() as ahead from sluice.counts_74c15828($1::text, $2::int, $3::float8, $4::float8)',
  doctorHorizon: "select h.kind, h.name, h.held, coalesce(h.seconds, 0)::float8 as seconds from ( select 'session' as kind, concat_ws(' ', a.pid::text, a.usename, a.application_name, a.state) as name, age(a.backend_xmin) as held, extract(epoch from clock_timestamp() - a.xact_start) as seconds from pg_catalog.pg_stat_activity a where a.backend_xmin is not null and a.pid <> pg_backend_pid() union all select 'replication slot', s.slot_name::text, greatest(age(s.xmin), age(s.catalog_xmin)), null from pg_catalog.pg_replication_slots s where s.xmin is not null or s.catalog_xmin is not null union all select 'prepared transaction', p.gid, age(p.transaction), extract(epoch from clock_timestamp() - p.prepared) from pg_catalog.pg_prepared_xacts p ) h order by h.held desc nulls last limit 1",
  doctorLeases: 'select count(*)::int as n, coalesce(max(sluice.present_4c1f74c0(null, null) - k.lease_until), 0) as late from sluice.keys k where k.token is not null and k.lease_until < sluice.present_4c1f74c0(null, null)',
  doctorRelations: "select c.relname as name, (select string_agg(a.attname, ' ' order by a.attname) from pg_catalog.pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns from pg_catalog.pg_class c left join pg_catalog.pg_index i on i.indexrelid = c.oid where c.relnamespace = quote_ident($1::text)::regnamespace and c.relkind in ('r', 'i', 'S') and i.indisvalid is not false",
  doctorTable: "select s.n_live_tup::float8 as live, s.n_dead_tup::float8 as dead, s.n_tup_upd::float8 as updates, s.n_tup_hot_upd::float8 as hot, extract(epoch from clock_timestamp() - s.last_autovacuum)::float8 as vacuumed, current_setting('autovacuum') as autovacuum, current_setting('synchronous_commit') as commits, pg_catalog.pg_total_relation_size(s.relid)::float8 as bytes, (select string_agg(distinct i.relname, ', ') from pg_catalog.pg_attribute a join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid = s.relid and d.refobjsubid = a.attnum and d.classid = 'pg_catalog.pg_class'::regclass join pg_catalog.pg_class i on i.oid = d.objid and i.relkind = 'i' where a.attrelid = s.relid and a.attname = 'lease_until') as lease_indexes, (select string_agg(t.relname, ', ' order by t.relname) from pg_catalog.pg_class t where t.relnamespace = quote_ident($1::text)::regnamespace and t.relkind = 'r' and t.relname in ('keys', 'queues', 'buckets', 'workers', 'history', 'failed_runs') and pg_catalog.row_security_active(t.oid)) as secured_tables from pg_catalog.pg_stat_all_tables s where s.schemaname = $1::text and s.relname = 'keys'",
  doctorWorkers: 'select w.queue, w.holder, w.host, w.info from sluice.workers w where w.seen_at >= sluice.present_4c1f74c0(null, null) - $1::float8 order by w.queue, w.holder',
  failedRuns: 'select at, key, code, holder, failures, last_error from sluice.failed_runs where queue_id = sluice.queue_number_6461402f($1::text) and at > sluice.present_4c1f74c0($3::float8, $4::float8) - $2::float8 order by at desc, id desc',
  findLockedKeys: 'select b.key from sluice.find_locked_keys_ea2a606a($1::text, $2::text[], $3::boolean) as b(key)',
  finishDone: 'select index, outcome, due_at, failures from sluice.finish_done_1a76f39e( $1::text, $2::text[], $3::bigint[], $4::boolean[], $5::int[], $6::float8, $7::float8)',
  history: 'select p.now, h.at, h.started, h.done, h.failed, h.added, h.merged, h.expired, h.ready, h.delayed, h.held, h.parked, h.oldest_ms, h.capped, h.paused, h.codes from (select sluice.present_4c1f74c0($4::float8, $5::float8) as now) p left join sluice.history h on h.queue_id = sluice.queue_number_6461402f($1::text) and h.step_ms = $2::int and h.at > floor(p.now / $2::int) * $2::int - $2::float8 * $3::int order by h.at',
  list: 'select l.now, l.next, l.word, sluice.ahead_ms_a3187b88() as ahead, (l.state).item, (l.state).last_error, (l.state).due_at, (l.state).why, (l.state).later_at, (l.state).later_why, (l.state).ready_at, (l.state).seq, (l.state).priority, (l.state).asked_at, (l.state).failures, (l.state).crashes, (l.state).failed_at, (l.state).parked, (l.state).token, (l.state).lease_until, (l.state).claimed_due_at, (l.state).claimed_why, (l.state).claimed_later_at, (l.state).claimed_ready_at, (l.state).claimed_seq, (l.state).claimed_priority, (l.state).claimed_asked_at, (l.state).key, (l.state).holder, (l.state).trace, (l.state).claimed_trace from sluice.list_9821fedf( $1::text, $2::text[], $3::int, $4::text, $5::text, $6::int, $7::int, $8::float8, $9::float8) l',
  lockBuckets: 'select name, tokens, at, now from sluice.lock_buckets_555c29d9($1::text[], $2::float8, $3::float8)',
  lockKeys: "select l.now, l.base, case when octet_length((l.state).item) > $7::int then chr(1) else (l.state).item end as item, case when octet_length((l.state).last_error) > $7::int then chr(1) else (l.state).last_error end as last_error, (l.state).due_at, (l.state).why, (l.state).later_at, (l.state).later_why, (l.state).ready_at, (l.state).seq, (l.state).priority, (l.state).asked_at, (l.state).failures, (l.state).crashes, (l.state).failed_at, (l.state).parked, (l.state).token, (l.state).lease_until, (l.state).claimed_due_at, (l.state).claimed_why, (l.state).claimed_later_at, (l.state).claimed_ready_at, (l.state).claimed_seq, (l.state).claimed_priority, (l.state).claimed_asked_at, (l.state).key, (l.state).holder, (l.state).trace, (l.state).claimed_trace from sluice.lock_keys_02ba993b($1::text, $2::text[], $3::boolean, $4::float8, $5::float8, case when $6::text is not null then coalesce(nullif(current_setting('lock_timeout'), '0'), $6::text) end) l",
  notify: 'select true as sent from pg_catalog.pg_notify($1::text, $2::text)',
  operatePause: 'select sluice.operate_pause_443e8492($1::text, $2::boolean) as changed',
  operatePurge: 'select changed, next, last from sluice.operate_purge_dfbfd3a5($1::text, $2::text, $3::bigint, $4::int, $5::boolean)',
  present: "select sluice.present_4c1f74c0(null, null) as now, pg_catalog.pg_sequence_last_value('sluice.latest') / 1000.0::float8 as latest, sluice.ahead_ms_a3187b88() as ahead",
  queues: 'select q.name from sluice.queues_981c1290($1::float8, $2::float8) as q(name) order by q.name',
  raisePresent: 'select sluice.raise_present_479922ea($1::float8) as ahead',
  raiseTokens: 'select sluice.raise_tokens_e83790a7($1::float8)',
  renew: 'select index, outcome, lease_until from sluice.renew_49796185($1::text, $2::text[], $3::bigint[], $4::float8, $5::float8, $6::float8)',
  tickOverListener: 'select kind, now, next_at, swept, key, token, recorded, sluice.ahead_ms_a3187b88() as ahead, exists (select from pg_catalog.pg_listening_channels() as c(name) where c.name = $19::text) as listens from sluice.tick_d6b07917( $1::text, $2::text, $3::text, $4::int, $5::int, $6::text, $7::int, $8::float8, $9::float8, $10::float8, $11::text, $12::int[], $13::int[], $14::int, $15::int, $16::int, $17::int, $18::float8)',
  tick: 'select kind, now, next_at, swept, key, token, recorded, sluice.ahead_ms_a3187b88() as ahead from sluice.tick_d6b07917( $1::text, $2::text, $3::text, $4::int, $5::int, $6::text, $7::int, $8::float8, $9::float8, $10::float8, $11::text, $12::int[], $13::int[], $14::int, $15::int, $16::int, $17::int, $18::float8)',
  transferLock: "select pg_catalog.pg_advisory_xact_lock( pg_catalog.hashtextextended('sluice.token is being set', 0))",
  transferSequences: "select pg_catalog.pg_sequence_last_value('sluice.token')::text as token, pg_catalog.pg_sequence_last_value('sluice.arrival')::text as arrival",
  transferSetArrival: "select pg_catalog.setval('sluice.arrival', $1::bigint)",
  transferSetToken: "select pg_catalog.setval('sluice.token', $1::bigint)",
  transferSkipTokens: "select max(pg_catalog.nextval('sluice.token')) from pg_catalog.generate_series(1, $1::int)",
  watchFound: "select to_regprocedure($1::text || '()') is not null as found",
  watchRoles: "select r.rolname as role from pg_roles r cross join to_regclass($1::text) t(relation) cross join ( select p.oid as function, n.oid as namespace from pg_proc p join pg_namespace n on n.oid = p.pronamespace where p.proname = 'add_many' and n.nspname = $3::text ) f where r.rolname !~ '^pg_' and not (has_schema_privilege(r.oid, f.namespace, 'usage') and has_function_privilege(r.oid, f.function, 'execute')) and exists ( select from unnest($2::text[]) e(event) where has_table_privilege(r.oid, t.relation, e.event) or e.event <> 'delete' and has_any_column_privilege(r.oid, t.relation, e.event) ) order by 1",
  workers: 'select holder, host, pid, concurrency, info, started_at, seen_at from sluice.workers where queue = $1::text and seen_at >= sluice.present_4c1f74c0($3::float8, $4::float8) - $2::float8',
  writeBuckets: 'select true as written from sluice.write_buckets_66cb0fcd( $1::text[], $2::float8[], $3::float8[], $4::float8[], $5::float8[], $6::text[])',
  writeKeys: 'select true as written from sluice.write_keys_c0c559b9( $1::text, $2::text[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::int[], $8::float8[], $9::int[], $10::float8[], $11::bigint[], $12::int[], $13::float8[], $14::boolean[], $15::int[], $16::int[], $17::float8[], $18::boolean[], $19::text[])',
} as const
