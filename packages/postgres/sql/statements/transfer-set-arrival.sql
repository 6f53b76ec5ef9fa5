-- Sets the place in line that counts as the last. $1 the place.
select pg_catalog.setval('sluice.arrival', $1::bigint)
