-- Writes one step of the history of a queue.
-- Parameters: queue, step_ms, and the other columns in their order.
-- Why this plan: by primary key.
insert or replace into sluice_history (
  queue, step_ms, at, started, done, failed, added, merged, expired, ready, delayed, held, parked,
  oldest_ms, capped, codes
) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
