-- Writes buckets that lock_buckets has locked, and deletes those of in_unused that were never charged.
create or replace function sluice.write_buckets(
  in_names text[], in_rates float8[], in_bursts float8[], in_tokens float8[], in_at float8[],
  in_unused text[]
) returns void language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
begin
  update sluice.buckets b set per_second = u.rate, burst = u.burst, tokens = u.tokens, at = u.at
  from unnest(in_names, in_rates, in_bursts, in_tokens, in_at) as u(name, rate, burst, tokens, at)
  where b.name = u.name;
  delete from sluice.buckets b where b.name = any (in_unused) and b.tokens is null;
end
$body$;
