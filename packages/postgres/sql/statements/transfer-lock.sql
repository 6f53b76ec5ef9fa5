-- Keeps everybody else from setting the counters until the end of the transaction. Drawing goes on.
select pg_catalog.pg_advisory_xact_lock(
  pg_catalog.hashtextextended('sluice.token is being set', 0))
