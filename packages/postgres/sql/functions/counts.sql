-- Counts the keys of each state, up to in_cap and one more. Stable: all statements read the rows of one
-- moment, or a key whose state changes in between would be in none of the counts, or in two.
create or replace function sluice.counts(in_queue text, in_cap int, in_now float8, in_least float8) returns table (
  now float8, ready int, delayed int, backoff int, processing int, dirty int, parked int, idle int,
  paused boolean, oldest float8, held_until float8, capped boolean
) language plpgsql stable
-- @include settings
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number(in_queue);
  t float8 := sluice.present(in_now, in_least);
  n_ready int; n_delayed int; n_backoff int; n_processing int; n_dirty int; n_parked int;
  n_idle int; first_ready float8; last_lease float8;
begin
  with recursive
  -- @include levels
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
  -- @include levels
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
$body$;
