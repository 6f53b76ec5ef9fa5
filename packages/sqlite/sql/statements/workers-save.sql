-- Registers a worker, or renews its registration.
-- Parameters: queue, holder, info, started_at, seen_at.
-- Why this plan: by primary key.
insert into sluice_workers (queue, holder, info, started_at, seen_at)
values (?, ?, ?, ?, ?)
on conflict (queue, holder) do update
set info = excluded.info, seen_at = excluded.seen_at
