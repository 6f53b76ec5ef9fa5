-- functions/write-buckets.sql. $1 names, $2 rates, $3 bursts, $4 tokens, $5 at, $6 unused.
select true as written from sluice.write_buckets(
  $1::text[], $2::float8[], $3::float8[], $4::float8[], $5::float8[], $6::text[])
