-- done, for a sorted batch of (key, token).
--
-- First deletes rows with nothing left to remember, in the order of the keys: the delete checks the
-- latest version of a row that it had to wait for, and leaves one to which a key was added meanwhile. It
-- finds rows by the primary key, with conditions that only a look-up for each key can use, whatever the
-- planner believes: "any" of one number gives no order to scan the index in. Then updates the others, in
-- a statement of its own, whose snapshot sees those adds; it finds them by their tokens and skips locked
-- rows, so that it never waits while it holds locks (no deadlock). For keys that neither has written
-- there is no row; the caller finishes each of those in a transaction.
--
-- The first row is (null, number of rows deleted, null, 0). If those were not all, a row follows for
-- each finished key: its index, its outcome (0 idle, 1 ready, 2 delayed, 3 parked), due, failures.
create or replace function sluice.finish_done(
  in_queue text, in_keys text[], in_tokens bigint[], in_forgets boolean[], in_indexes int[],
  in_now float8, in_least float8
) returns table (index int, outcome int, due_at float8, failures int) language plpgsql
-- @include settings
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number(in_queue);
  base bigint; gone int[];
begin
  if cardinality(in_keys) = 1 then
    -- The same without the lists: starting the statement for several takes longer than all of this.
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
      -- Within the statement: later than every row that its snapshot sees.
      select sluice.present(in_now, in_least) as t
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
$body$;
