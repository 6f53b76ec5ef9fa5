-- A page of keys in the order of their bytes, after in_after: at most in_limit of the state in_state
-- (null: all), looking at no more than in_look. The last row has only the key at which the next page
-- begins; null if there is none. States: 0 ready, 1 delayed, 2 backoff, 3 processing, 4 dirty,
-- 5 parked, 6 idle.
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
begin
  if in_keys is not null then
    open cur for select k.* from unnest(in_keys) as i(key) cross join lateral (
      select x.* from sluice.keys x where x.queue_id = this_queue and x.key = i.key offset 0) k;
  elsif in_state in (3, 4) then
    -- Sorted, since there are never more held keys than workers can hold.
    open cur for select x.* from unnest(array(
        select h.ctid from (
          select k.ctid, k.key from sluice.keys k
          where k.queue_id = this_queue and k.token is not null
          order by k.queue_id, k.token offset 0) h
        where h.key > in_after and h.key >= in_prefix
      )) as i(ctid)
      join sluice.keys x on x.ctid = i.ctid order by x.key;
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
