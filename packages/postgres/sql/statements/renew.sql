-- functions/renew.sql. $1 queue, $2 keys, $3 tokens, $4 lease, $5 now or null, $6 the least that the
-- present is.
select index, outcome, lease_until
from sluice.renew($1::text, $2::text[], $3::bigint[], $4::float8, $5::float8,
  $6::float8)
