-- functions/lock-keys.sql. $1 queue, $2 keys, $3 whether to create, $4 now or null, $5 the least that
-- the present is.
select l.now, l.base,
  -- @include key-columns
from sluice.lock_keys($1::text, $2::text[], $3::boolean, $4::float8, $5::float8) l
