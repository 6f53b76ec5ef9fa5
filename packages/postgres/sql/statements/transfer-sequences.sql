-- The greatest token that was ever given out, and the last position in the order. Needs no more
-- rights than drawing them does.
select pg_catalog.pg_sequence_last_value('sluice.token')::text as token,
  pg_catalog.pg_sequence_last_value('sluice.arrival')::text as arrival
