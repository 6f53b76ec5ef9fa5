-- By how many milliseconds the store's time is ahead of the server's clock.
create or replace function sluice.ahead_ms() returns float8 language sql volatile
return cast(coalesce(pg_catalog.pg_sequence_last_value('sluice.ahead'), 0) as float8)
  operator(pg_catalog./) cast(1000 as float8);
