-- functions/counts.sql. $1 queue, $2 cap, $3 now or null, $4 the least that the present is.
select now, ready, delayed, backoff, processing, dirty, parked, idle, paused, oldest, held_until,
  capped,
  sluice.ahead_ms() as ahead
from sluice.counts($1::text, $2::int, $3::float8, $4::float8)
