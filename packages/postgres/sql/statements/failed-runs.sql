-- The failed runs of a queue that are kept, newest first. $1 queue, $2 for how many milliseconds, $3 now
-- or null, $4 the least that the present is.
select at, key, code, holder, failures, last_error from sluice.failed_runs
where queue_id = sluice.queue_number($1::text)
  and at > sluice.present($3::float8, $4::float8) - $2::float8
order by at desc, id desc
