-- Counts the pending keys of a queue up to in_most, in the indexes of waiting, held and parked keys, so
-- that keys with nothing but a failure count are not read. With in_lock, no other transaction counts
-- until this one ends, so that adds together stay below a limit. Every add of a queue with a limit
-- waits for that lock, so it may wait longer than for a key. All versions of Sluice have to
-- take the same lock.
--
-- While in_most is far away, returns the most that can be pending instead. Each statement that makes up to
-- 1,024 keys pending draws a position, in steps of 1,024. The session remembers its last count, and a position from
-- before all transactions that this count did not see; from then on, at most as many keys became pending
-- as positions were drawn. A statement draws its position shortly before its transaction gets a number:
-- the margin of ten batches is for nine that are in between, and the caller's.
create or replace function sluice.count_pending(in_queue text, in_most int, in_lock boolean) returns int
language plpgsql
-- @include settings
set lock_timeout = '2s'
as $body$
declare
  this_queue bigint := sluice.queue_number(in_queue);
  setting text := format('sluice_pending.q%s_%s', 'sluice.keys'::regclass::oid, to_hex(this_queue));
  -- The count less a position; the last position, and a transaction whose number was given after it.
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
  -- Few keys are counted at once, and a session may add to thousands of queues. The transaction of a caller
  -- may have a number, or a snapshot, that is older than the position.
  if in_lock and pending > 1000 then
    known[2] := drawn;
    known[3] := pg_current_xact_id()::text;
    perform set_config(setting, known::text, false);
  end if;
  return pending;
end
$body$;
