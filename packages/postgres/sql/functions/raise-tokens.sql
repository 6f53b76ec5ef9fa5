-- From now on tokens are greater than the present, in microseconds since the epoch, as in a new schema. A
-- replica that lagged and was promoted, or a backup, lacks the last tokens that were given out, and
-- nobody can say how many; but a store gives out fewer than one in a microsecond, so that all of them are below.
-- Calling it again changes nothing that matters.
create or replace function sluice.raise_tokens(in_least float8) returns void language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $body$
declare
  last_token bigint; least_token bigint;
begin
  -- Nothing else sets the sequence at the same time.
  perform pg_advisory_xact_lock(hashtextextended('sluice.token is being set', 0));
  last_token := pg_sequence_last_value('sluice.token');
  -- Tokens would start again from 1, and from then on nobody could tell that the values are missing.
  if last_token is null and has_sequence_privilege('sluice.token', 'usage') then
    raise exception 'the sequences of the schema have no values, as after logical replication; run sluice migrate as its owner'
      using errcode = 'object_not_in_prerequisite_state';
  end if;
  least_token := least((sluice.present(null, in_least) * 1000)::bigint, 9007199254740991);
  -- Claims draw tokens at the same time, and setting must not set back: a gap that they could close in that
  -- moment is closed by drawing, 10 ms of it in about 3 ms.
  if least_token - last_token > 10000 then
    perform setval('sluice.token', least_token);
  else
    perform nextval('sluice.token') from generate_series(last_token + 1, least_token);
  end if;
end
$body$;
