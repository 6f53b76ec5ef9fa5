-- Locks token buckets, which are sorted, and creates missing ones. May wait longer than for a key: every
-- charge of a bucket takes its lock, for a moment each.
create or replace function sluice.lock_buckets(in_names text[])
returns table (name text, tokens float8, at float8) language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $body$
#variable_conflict use_column
begin
  insert into sluice.buckets as b (name) select i.name from unnest(in_names) as i(name)
  on conflict (name) do update set tokens = b.tokens where false;
  return query select b.name, b.tokens, b.at from sluice.buckets b where b.name = any (in_names);
end
$body$;
