-- See list in the migrations. $1 queue, $2 keys, $3 state, $4 prefix, $5 after, $6 limit, $7 how many
-- to look at, $8 now.
select l.now, l.next, l.word, (l.state).*
from sluice.list(
  $1::text, $2::text[], $3::int, $4::text, $5::text, $6::int, $7::int, $8::float8) l
