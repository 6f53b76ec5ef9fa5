-- Adds a record to the current steps of the history of a queue, one of each length.
-- Parameters: queue, the counts of the record and of the keys in the order of the columns, and a JSON array
-- of triples [step_ms, at, codes].
-- Why this plan: each by primary key.
insert into sluice_history (
  queue, started, done, failed, added, merged, expired,
  ready, delayed, held, parked, oldest_ms, capped, paused, step_ms, at, codes
)
select ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, j.value ->> 0, j.value ->> 1, j.value ->> 2
from json_each(?) j
where true
on conflict (queue, step_ms, at) do update set
  started = started + excluded.started,
  done = done + excluded.done,
  failed = failed + excluded.failed,
  added = added + excluded.added,
  merged = merged + excluded.merged,
  expired = expired + excluded.expired,
  ready = excluded.ready,
  delayed = excluded.delayed,
  held = excluded.held,
  parked = excluded.parked,
  oldest_ms = excluded.oldest_ms,
  capped = excluded.capped,
  paused = excluded.paused,
  codes = excluded.codes
