-- See counts in the migrations. $1 queue, $2 cap, $3 now.
select now, ready, delayed, backoff, processing, dirty, parked, idle, paused, oldest, capped
from sluice.counts($1::text, $2::int, $3::float8)
