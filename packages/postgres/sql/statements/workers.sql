-- The workers of a queue. $1 queue, $2 seen within so many milliseconds, $3 now or null, $4 the least
-- that the present is.
select holder, host, pid, concurrency, info, started_at, seen_at from sluice.workers
where queue = $1::text and seen_at >= sluice.present($3::float8, $4::float8) - $2::float8
