-- functions/operate-purge.sql. $1 queue, $2 after, $3 limit, $4 whether to wait for locked rows.
select changed, next
from sluice.operate_purge($1::text, $2::text, $3::int, $4::boolean)
