-- functions/write-keys.sql. $1 queue, $2 keys to delete, $3 keys to write, then their columns.
select true as written from sluice.write_keys(
  $1::text, $2::text[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::int[], $8::float8[],
  $9::int[], $10::float8[], $11::bigint[], $12::int[], $13::float8[], $14::boolean[], $15::int[],
  $16::int[], $17::float8[], $18::boolean[], $19::text[])
