-- functions/add.sql. $1 queue, $2 keys, $3 items, $4 priorities, $5 delays, $6 indexes in the batch,
-- $7 whether dedupe is 'client-go', $8 failuresExpireMs, $9 now or null, $10 the least that the
-- present is, $11 channel or null, $12 the notice for it,
-- $13 trace contexts or null.
select key, outcome, due_at, failures from sluice.add(
  $1::text, $2::text[], $3::text[], $4::int[], $5::float8[], $6::int[], $7::boolean,
  $8::float8, $9::float8, $10::float8, $11::text, $12::text, $13::text[])
