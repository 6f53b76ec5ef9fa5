-- Locks keys, which are sorted, and returns them; with in_create, also keys without a row, as empty
-- rows. The caller keeps a short transaction open until it calls write_keys. The store's time is read
-- after the last lock, so that it is later than every time in the rows. The first row has a null key.
-- in_wait is how long to wait for each locked row instead of 50 ms, if it is not null.
create or replace function sluice.lock_keys(
  in_queue text, in_keys text[], in_create boolean, in_now float8, in_least float8, in_wait text
) returns table (now float8, base float8, state sluice.keys) language plpgsql
-- @include settings
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number(in_queue);
begin
  perform set_config('lock_timeout', in_wait, true) where in_wait is not null;
  if in_create then
    insert into sluice.keys as k (queue_id, queue, key)
    select this_queue, in_queue, i.key from unnest(in_keys) as i(key)
    on conflict (queue_id, key) do update set change = 0 where false;
  else
    -- Only locked keys are returned. The next statement would also see a key that is added, and
    -- claimed, after this one, and the caller would overwrite it.
    in_keys := array(select x.key from unnest(in_keys) as i(key) cross join lateral (
      select k.key from sluice.keys k where k.queue_id = this_queue and k.key = i.key
      for update) x);
  end if;
  return query select sluice.present(in_now, in_least), nextval('sluice.arrival')::float8, null::sluice.keys;
  return query
    -- The offset keeps it a look-up for each key; otherwise a planner that believes the table to be
    -- small would read all of the queue instead.
    select null::float8, null::float8, k from unnest(in_keys) as i(key) cross join lateral (
      select x from sluice.keys x where x.queue_id = this_queue and x.key = i.key offset 0) as r(k);
end
$body$;
