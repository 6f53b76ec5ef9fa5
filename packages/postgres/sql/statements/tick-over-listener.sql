-- tick.sql over the connection that listens: also says whether that connection listens. $19 channel.
select kind, now, next_at, swept, key, token, recorded, sluice.ahead_ms() as ahead,
  exists (select from pg_catalog.pg_listening_channels() as c(name) where c.name = $19::text)
    as listens
from sluice.tick(
  $1::text, $2::text, $3::text, $4::int, $5::int, $6::text, $7::int, $8::float8, $9::float8,
  $10::float8, $11::text, $12::int[], $13::int[], $14::int, $15::int, $16::int, $17::int,
  $18::float8)
