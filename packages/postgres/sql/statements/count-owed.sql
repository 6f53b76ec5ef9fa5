-- See owed in the migrations. $1 queue, $2 as far as this.
select sluice.owed($1::text, $2::int) as owed
