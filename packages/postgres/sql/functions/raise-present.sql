-- From now on the present is at least this; calling it again changes nothing. Returns by how many
-- milliseconds the store's time is ahead of the server's clock.
create or replace function sluice.raise_present(in_least float8) returns float8 language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $body$
declare
  missing float8;
begin
  perform pg_advisory_xact_lock(hashtextextended('sluice.ahead', 0));
  missing := in_least - sluice.present(null, null);
  if missing > 0 then
    perform setval('sluice.ahead', ceil((sluice.ahead_ms() + missing) * 1000)::bigint);
  end if;
  return sluice.ahead_ms();
end
$body$;
