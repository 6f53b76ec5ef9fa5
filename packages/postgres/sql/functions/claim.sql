-- Claims up to in_limit keys, and reports expired leases among in_looks of the held keys: those with
-- tokens below in_before, the latest first, and after the last of them again from the latest.
--
-- Steps through the priorities of waiting keys on the index, and takes the due keys of each priority
-- from its front: delayed keys cost nothing, however many there are. Locked rows are skipped. One
-- statement picks rows, and the next updates them by their ctid, so no plan can claim more than that.
-- It gets them as one array: for each row of a join by ctid, the server asks the operating system how
-- long the table is, which took a third of the time of a claim. It meets the rows in the order of their
-- ctids, so tokens are drawn before, in the order of claims, and sorted along with the ctids.
--
-- The first row: the store's time; the claims in three lists, in the order of ctids; the expired leases
-- as two lists; and the token below which to look at leases next, if not all were looked at. `texts` has
-- all keys, then all items, then all trace contexts if a run has any; `numbers` has all failures, crashes,
-- priorities, and the instants when runs were asked for and when they were ready. Lists are texts (JSON
-- of texts, arrays of numbers), since a client reads few long texts in a fraction of the time that
-- thousands of short ones take; and few columns, each of which takes the server time. An empty list is
-- null. The item of a single claim is in the first row; if one of several items is long, the items follow
-- in rows of their own, one for each claim, in the same order.
create or replace function sluice.claim(
  in_queue text, in_limit int, in_holder text, in_claim_id text, in_lease float8,
  in_due_by float8, in_before bigint, in_looks int, in_now float8, in_least float8
) returns table (
  now float8, tokens text, texts text, numbers text, ended_keys text, ended_tokens text,
  look_before bigint, item text
) language plpgsql
-- @include settings
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number(in_queue);
  t float8 := sluice.present(in_now, in_least);
  -- The priority at which keys are picked, and when the first of them is ready; the next one is below.
  level int; first_at float8; below bigint := 2147483648;
  -- The rows that are picked. A key that has crashed workers twice is handed out alone: it is null.
  picks tid[]; crashes_max int := 1;
  ctids tid[]; drawn bigint[]; are_short boolean; first_end float8;
begin
  now := t;
  -- Starting a statement takes longer than finding a key, and the longer the more the statement does:
  -- two short ones for each priority, and almost always the first priority has all the keys.
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
      -- Such a key ends the batch before it, or if it is the first, is picked again without the others.
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
    -- The same as for several, without the lists.
    update sluice.keys k set
      token = nextval('sluice.token'),
      seq = case when k.later_at < 'Infinity' then nextval('sluice.arrival') + 1 else k.seq end,
      -- @include claim-set
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
        -- The sub-select draws once for all second runs, and only if there is one.
        seq = case when k.later_at < 'Infinity'
          then (select nextval('sluice.arrival')) + array_position(picks, k.ctid) else k.seq end,
        -- @include claim-set
      where k.ctid = any (ctids)
      returning k.key, k.item, k.token, k.failures, k.crashes, k.claimed_priority, k.claimed_asked_at,
        k.claimed_ready_at, k.claimed_trace
    )
    select array_agg(c.token),
      array_to_json(array_agg(c.key)
        -- Making JSON of a text takes time in proportion to its length.
        || array_agg(case when octet_length(c.item) <= 1024 then c.item end)
        || case when count(c.claimed_trace) > 0 then array_agg(c.claimed_trace) end),
      bool_and(c.item is null or octet_length(c.item) <= 1024),
      array_agg(c.failures::float8) || array_agg(c.crashes::float8)
        || array_agg(c.claimed_priority::float8)
        || array_agg(coalesce(c.claimed_asked_at, 'Infinity')) || array_agg(c.claimed_ready_at)
    into tokens, texts, are_short, numbers
    from claimed c;
  end if;
  -- Each claim looks at the next few of the held keys, so that frequent claims stay cheap. From the
  -- latest on, so that new claims do not keep the round from ending. Most often none has expired.
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
$body$;
