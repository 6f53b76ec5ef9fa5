-- interface: 1
-- Adds any number of keys to a queue: returns each key once, with its outcome.
create or replace function sluice.add_many(
  queue text, keys text[], items jsonb[] default null, delay interval default '0',
  priority int default 0, dedupe text default 'client-go'
) returns table (key text, outcome text) language sql security definer
set search_path = pg_catalog, pg_temp
as $body$
select a.key, a.outcome from sluice.add_checked($1, $2, $3, $4, $5, $6) a
$body$;
