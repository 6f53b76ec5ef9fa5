-- Locks token buckets, which are sorted, and creates missing ones. May wait longer than for a key: every
-- charge of a bucket takes its lock, for a moment each. Each row has the store's time, read after the last
-- lock, so that it is not before the time of any charge.
create or replace function sluice.lock_buckets(in_names text[], in_now float8, in_least float8)
returns table (name text, tokens float8, at float8, now float8) language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $body$
#variable_conflict use_column
declare
  t float8;
begin
  insert into sluice.buckets as b (name) select i.name from unnest(in_names) as i(name)
  on conflict (name) do update set tokens = b.tokens where false;
  t := sluice.present(in_now, in_least);
  return query select b.name, b.tokens, b.at, t from sluice.buckets b where b.name = any (in_names);
end
$body$;
