-- Keeps other processes from setting a sequence until the transaction ends. Drawing goes on.
select pg_catalog.pg_advisory_xact_lock(
  pg_catalog.hashtextextended('sluice.token is being set', 0))
