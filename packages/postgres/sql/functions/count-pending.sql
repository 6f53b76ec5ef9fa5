-- Counts the pending keys of a queue up to in_most, in the indexes of waiting, held and parked keys, so
-- that keys with nothing but a failure count are not read. With in_lock, no other transaction counts
-- until this one ends, so that adds together stay below a limit. Every add of a queue with a limit
-- waits for that lock, so it may wait longer than for a key.
create or replace function sluice.count_pending(in_queue text, in_most int, in_lock boolean) returns int
language plpgsql
-- @include settings
set lock_timeout = '2s'
as $body$
declare
  this_queue bigint := sluice.queue_number(in_queue);
begin
  if in_lock then
    perform pg_advisory_xact_lock(this_queue # hashtextextended('sluice.count_pending', 0));
  end if;
  return (select count(*) from (
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
    limit in_most) x);
end
$body$;
