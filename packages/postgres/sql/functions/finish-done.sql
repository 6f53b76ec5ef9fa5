-- done, for a sorted batch of (key, token).
--
-- A row is found by its token: the index of what is held has one entry for it, where the primary key
-- has one for each version of the row. First deletes what is plainly clean, in the order of the keys:
-- the delete looks again at the latest version of a row it had to wait for, and leaves one that was
-- asked for meanwhile. Then updates what is left, in a statement of its own, whose snapshot sees what
-- was added meanwhile; it passes over locked rows, so that it never waits while it holds others (no
-- deadlock). What neither has written is not answered for: the caller settles it key by key, in a
-- transaction of its own.
--
-- Answers first with (null, rows deleted, null, 0); if those were not all, one row for each key that
-- was finished: its place, where it is now (0 idle, 1 ready, 2 delayed, 3 parked), due, failures.
create or replace function sluice.finish_done(
  in_queue text, in_keys text[], in_tokens bigint[], in_forgets boolean[], in_places int[],
  in_now float8, in_least float8
) returns table (place int, outcome int, due_at float8, failures int) language plpgsql
-- @include settings
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number(in_queue);
  base bigint; gone int[];
begin
  with d as (
    delete from sluice.keys k
    using (
      select x.ctid, u.* from unnest(in_keys, in_tokens, in_forgets, in_places)
        as u(key, token, forgets, place)
      cross join lateral (
        select k.ctid from sluice.keys k
        where k.queue_id = this_queue and k.token = u.token offset 0) x
      offset 0
    ) i
    where k.ctid = i.ctid
      and k.token is not distinct from i.token and k.key = i.key
      and k.due_at = 'Infinity' and not k.parked
      and (i.forgets or k.failures = 0)
    returning i.place
  )
  select array_agg(d.place) into gone from d;
  outcome := coalesce(cardinality(gone), 0); failures := 0;
  return next;
  if outcome = cardinality(in_keys) then return; end if;

  base := nextval('sluice.arrival');
  return query select u.place, 0, 'Infinity'::float8, 0 from unnest(gone) as u(place);
  return query
    with moment as materialized (
      -- Within the statement: later than whatever its snapshot sees.
      select sluice.present(in_now, in_least) as t
    ), locked as materialized (
      select x.ctid, i.place, i.forgets
      from unnest(in_keys, in_tokens, in_forgets, in_places) as i(key, token, forgets, place)
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
      claimed_seq = null, claimed_priority = null, claimed_why = null,
      later_at = case when k.later_at <= m.t and k.due_at <= m.t then 'Infinity'
        else k.later_at end,
      ready_at = case when k.due_at <= m.t then m.t else k.ready_at end,
      seq = case when k.due_at <= m.t then base + l.place else k.seq end,
      failures = case when l.forgets then 0 else k.failures end,
      crashes = 0,
      failed_at = case when l.forgets then null else k.failed_at end
    from locked l, moment m
    where k.ctid = l.ctid
    returning l.place,
      case when k.parked then 3 when k.due_at = 'Infinity' then 0
        when k.due_at <= m.t then 1 else 2 end,
      k.due_at, k.failures;
end
$body$;
