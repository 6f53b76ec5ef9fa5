-- See owed in the migrations. $1 queue, $2 as far as this, $3 whether to lock.
select sluice.count_pending($1::text, $2::int, $3::boolean) as pending
