-- functions/claim.sql. $1 queue, $2 limit, $3 holder, $4 claim id, $5 lease, $6 due by, $7 the token
-- below which to look for expired leases, $8 how many keys to look at for those, $9 now or null,
-- $10 the least that the present is.
select now, tokens, texts, numbers, ended_keys, ended_tokens, look_before, item
from sluice.claim(
  $1::text, $2::int, $3::text, $4::text, $5::float8, $6::float8, $7::bigint, $8::int, $9::float8,
  $10::float8)
