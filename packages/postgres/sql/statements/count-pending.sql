-- functions/count-pending.sql. $1 queue, $2 count at most so many, $3 whether to lock.
select sluice.count_pending($1::text, $2::int, $3::boolean) as pending
