-- Sets the position in the order that counts as the last. $1 the position.
select pg_catalog.setval('sluice.arrival', $1::bigint)
