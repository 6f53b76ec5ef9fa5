-- $1 queue, $2 within so many milliseconds, $3 now.
select holder, host, pid, concurrency, info, started_at, seen_at from sluice.workers
where queue = $1::text and seen_at >= sluice.present($3::float8) - $2::float8 order by holder
