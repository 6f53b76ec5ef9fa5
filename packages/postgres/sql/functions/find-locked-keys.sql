-- Which of these keys another transaction has locked right now, for a batch that has met a lock. With
-- in_create, also keys that another transaction is about to create: trying is the only way to find
-- those. Keeps no lock, which other batches would take for one of a transaction that stays open: each
-- block that locks is taken back.
create or replace function sluice.find_locked_keys(in_queue text, in_keys text[], in_create boolean)
returns setof text language plpgsql
-- @include settings
set lock_timeout = '1ms'
as $body$
declare
  this_queue bigint := sluice.queue_number(in_queue);
  free text[]; seen text[]; one text;
begin
  begin
    free := array(select x.key from unnest(in_keys) as i(key) cross join lateral (
      select k.key from sluice.keys k where k.queue_id = this_queue and k.key = i.key
      for update skip locked) x);
    raise exception 'taken back' using errcode = 'SL000';
  exception
    when sqlstate 'SL000' then null;
    -- Of a row that was updated while this ran, the server does not skip the newer version: it waits.
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
$body$;
