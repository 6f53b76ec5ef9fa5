-- The present of this store: the server's clock and by how much it was set back, unless the caller has
-- a clock. at_least is what the caller knows from its monotonic clock and earlier answers: the first
-- statement after the clock is set back must not write times of the past.
create or replace function sluice.present(given float8, at_least float8) returns float8 language sql volatile
return coalesce(given, greatest(
  (cast(extract(epoch from pg_catalog.clock_timestamp()) as float8)
    operator(pg_catalog.*) cast(1000 as float8))
  operator(pg_catalog.+)
  (cast(coalesce(pg_catalog.pg_sequence_last_value('sluice.ahead'), 0) as float8)
    operator(pg_catalog./) cast(1000 as float8)),
  at_least));
