-- interface: 1
-- Adds a key to a queue, due after a delay: returns added, moved, unchanged or parked.
create or replace function sluice.add_after(
  queue text, key text, delay interval, item jsonb default null, priority int default 0,
  dedupe text default 'client-go'
) returns text language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
select a.outcome from sluice.add_checked(
  $1, array[$2], case when $4 is not null then array[$4] end, $3, $5, $6) a
$body$;
