-- Imports a bucket unless one of its name is stored.
-- Parameters: name, per_second, burst, tokens, at.
insert into sluice_buckets (name, per_second, burst, tokens, at)
values (?, ?, ?, ?, ?)
on conflict (name) do nothing
