-- interface: 1
-- Adds a key to a queue: returns added, moved, unchanged or parked.
create or replace function sluice.add(
  queue text, key text, item jsonb default null, priority int default 0,
  dedupe text default 'client-go'
) returns text language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
select a.outcome from sluice.add_checked(
  $1, array[$2], case when $3 is not null then array[$3] end, '0', $4, $5) a
$body$;
