-- functions/lock-buckets.sql. $1 names, $2 now or null, $3 the least that the present is.
select name, tokens, at, now
from sluice.lock_buckets($1::text[], $2::float8, $3::float8)
