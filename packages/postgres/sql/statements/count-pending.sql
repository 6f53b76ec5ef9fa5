-- See owed in the migrations. $1 queue, $2 as far as this, $3 whether to lock.
select sluice.owed($1::text, $2::int, $3::boolean) as owed
