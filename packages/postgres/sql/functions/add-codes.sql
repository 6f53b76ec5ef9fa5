-- The sum of two lists of codes with counts, [[code, count], ...], most first, at most in_codes long.
create or replace function sluice.add_codes(in_a jsonb, in_b jsonb, in_codes int) returns text
language plpgsql
-- @include settings
set lock_timeout = '50ms'
as $body$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_array(s.code, s.failed) order by s.failed desc, s.code),
      '[]')::text
    from (
      select (p ->> 0) collate "C" as code, sum((p ->> 1)::bigint) as failed
      from jsonb_array_elements(in_a || in_b) as e(p)
      group by 1 order by 2 desc, 1 limit in_codes) s);
end
$body$;
