-- functions/finish-done.sql. $1 queue, $2 keys, $3 tokens, $4 whether to forget, $5 indexes in the
-- batch, $6 now or null, $7 the least that the present is.
select index, outcome, due_at, failures from sluice.finish_done(
  $1::text, $2::text[], $3::bigint[], $4::boolean[], $5::int[], $6::float8, $7::float8)
