-- Writes back the state of a bucket.
-- Parameters: name, per_second, burst, tokens, at.
-- Why this plan: by primary key.
insert into sluice_buckets (name, per_second, burst, tokens, at)
values (?, ?, ?, ?, ?)
on conflict (name) do update
set
  per_second = excluded.per_second, burst = excluded.burst,
  tokens = excluded.tokens, at = excluded.at
