-- The greatest token that was ever given out, and the last place in line. Asks for no more rights
-- than drawing them does.
select pg_catalog.pg_sequence_last_value('sluice.token')::text as token,
  pg_catalog.pg_sequence_last_value('sluice.arrival')::text as arrival
