-- The present, the newest present that a tick has noted, and by how much both are ahead of the
-- server's clock.
select sluice.present(null, null) as now,
  pg_catalog.pg_sequence_last_value('sluice.latest') / 1000.0::float8 as latest,
  sluice.ahead_ms() as ahead
