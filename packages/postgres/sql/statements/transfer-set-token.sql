-- Sets the token that counts as given out last. $1 the token.
select pg_catalog.setval('sluice.token', $1::bigint)
