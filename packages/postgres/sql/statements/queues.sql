-- functions/queues.sql. $1 now or null, $2 the least that the present is.
select q.name from sluice.queues($1::float8, $2::float8) as q(name)
order by q.name
