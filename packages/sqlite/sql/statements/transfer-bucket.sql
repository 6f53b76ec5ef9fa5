-- Puts in a bucket of which nothing is stored.
-- Parameters: name, per_second, burst, tokens, at.
insert into sluice_buckets (name, per_second, burst, tokens, at)
values (?, ?, ?, ?, ?)
on conflict (name) do nothing
