-- A page of keys in the order of their bytes, after in_after: at most in_limit of the state in_state
-- (null: all), looking at no more than in_look. The last row has only the key at which the next page
-- begins; null if there is none. States: 0 ready, 1 delayed, 2 backoff, 3 processing, 4 dirty,
-- 5 parked, 6 idle.
--
-- If an index shows that at most 1,000 keys can be in the state, only those are looked at. Held keys
-- always: there are never more than workers can hold.
create or replace function sluice.list(
  in_queue text, in_keys text[], in_state int, in_prefix text, in_after text, in_limit int,
  in_look int, in_now float8, in_least float8
) returns table (now float8, next text, word int, state sluice.keys) language plpgsql
-- @include settings
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number(in_queue);
  t float8 := sluice.present(in_now, in_least);
  one sluice.keys; is_state int; matched int := 0; looked int := 0; last text; has_more boolean := false;
  cur refcursor;
  few int := case when in_state in (3, 4) then 2147483646 else 1000 end;
  names text[] := in_keys;
begin
  if in_keys is null and in_state <> 5 then
    with recursive
    -- @include levels
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
      -- The page is full. Only now there is known to be another one, which is not empty.
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
$body$;
