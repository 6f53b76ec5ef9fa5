-- The steps of one length of the history of a queue. $1 queue, $2 step_ms, $3 how many are kept, $4 now
-- or null, $5 the least that the present is.
select p.now, h.at, h.started, h.done, h.failed, h.added, h.merged, h.expired, h.ready, h.delayed,
  h.held, h.parked, h.oldest_ms, h.capped, h.paused,
  h.codes
from (select sluice.present($4::float8, $5::float8) as now) p
left join sluice.history h on h.queue_id = sluice.queue_number($1::text) and h.step_ms = $2::int
  and h.at > floor(p.now / $2::int) * $2::int - $2::float8 * $3::int
order by h.at
