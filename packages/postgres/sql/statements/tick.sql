-- functions/tick.sql. $1 queue, $2 holder, $3 host, $4 pid, $5 concurrency, $6 info, $7 limit,
-- $8 failuresExpireMs, $9 now or null, $10 the least that the present is, $11 the record or null, $12
-- to $18 as in functions/add-record.sql.
select kind, now, next_at, swept, key, token, recorded, sluice.ahead_ms() as ahead
from sluice.tick(
  $1::text, $2::text, $3::text, $4::int, $5::int, $6::text, $7::int, $8::float8, $9::float8,
  $10::float8, $11::text, $12::int[], $13::int[], $14::int, $15::int, $16::int, $17::int,
  $18::float8)
