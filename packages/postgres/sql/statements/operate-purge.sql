-- functions/operate-purge.sql. $1 queue, $2 after, $3 last, $4 limit, $5 whether to wait for locked rows.
select changed, next, last
from sluice.operate_purge($1::text, $2::text, $3::bigint, $4::int, $5::boolean)
