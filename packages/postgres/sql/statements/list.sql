-- functions/list.sql. $1 queue, $2 keys, $3 state, $4 prefix, $5 after, $6 limit, $7 how many rows to
-- look at, $8 now or null, $9 the least that the present is.
select l.now, l.next, l.word, sluice.ahead_ms() as ahead,
  (l.state).item, (l.state).last_error,
  -- @include key-columns
from sluice.list(
  $1::text, $2::text[], $3::int, $4::text, $5::text, $6::int, $7::int, $8::float8, $9::float8) l
