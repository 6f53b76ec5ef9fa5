-- The names of all queues that have keys, are paused, or have a worker that ticked within a day; the keys
-- by single steps on the primary key.
create or replace function sluice.queues(in_now float8, in_least float8) returns setof text
language plpgsql
-- @include settings
set lock_timeout = '50ms'
as $body$
declare
  t float8 := sluice.present(in_now, in_least);
begin
  return query
    with recursive found (id, name) as (
      (select k.queue_id, k.queue from sluice.keys k order by k.queue_id, k.key limit 1)
      union all
      select x.queue_id, x.queue from found f cross join lateral (
        select k.queue_id, k.queue from sluice.keys k where k.queue_id > f.id
        order by k.queue_id, k.key limit 1) x
    )
    select f.name from found f
    union select q.name from sluice.queues q where q.paused
    -- The workers of a queue are deleted by the next one of it, and there may be none.
    union select w.queue from sluice.workers w where w.seen_at >= t - 86400000;
end
$body$;
