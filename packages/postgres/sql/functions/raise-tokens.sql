-- From now on tokens are greater than the present, in microseconds since the epoch, as in a new schema. A
-- replica that lagged and was promoted, or a backup, lacks the last tokens that were given out, and
-- nobody can say how many; but a store gives out fewer than one in a microsecond, so that all of them are below.
-- Calling it again changes nothing that matters.
create or replace function sluice.raise_tokens(in_least float8) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $body$
declare
  least_token bigint;
begin
  -- Setting it must not set it back: nobody else sets it meanwhile, and drawing does not reach the present.
  perform pg_advisory_xact_lock(hashtextextended('sluice.token is being set', 0));
  least_token := (sluice.present(null, in_least) * 1000)::bigint;
  if least_token > pg_sequence_last_value('sluice.token') then
    perform setval('sluice.token', least(least_token, 9007199254740991));
  end if;
end
$body$;
