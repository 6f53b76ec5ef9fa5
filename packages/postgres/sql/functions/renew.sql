-- Renews leases, for a sorted batch of (key, token). Skips locked rows, and changes no column that is
-- in an index. Outcomes: 0 renewed, 1 lost, 2 locked.
create or replace function sluice.renew(
  in_queue text, in_keys text[], in_tokens bigint[], in_lease float8, in_now float8, in_least float8
) returns table (index int, outcome int, lease_until float8) language plpgsql
-- @include settings
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number(in_queue);
  t float8 := sluice.present(in_now, in_least);
  picks tid[]; indexes int[];
begin
  select array_agg(x.ctid), array_agg(i.index) into picks, indexes
  from unnest(in_keys, in_tokens) with ordinality as i(key, token, index)
  cross join lateral (
    select k.ctid from sluice.keys k
    where k.queue_id = this_queue and k.token = i.token and k.key = i.key
    for update skip locked) x;
  return query
    update sluice.keys k set lease_until = greatest(k.lease_until, t + in_lease)
    from unnest(picks, indexes) as u(ctid, index) where k.ctid = u.ctid
    returning u.index, 0, k.lease_until;
  if coalesce(cardinality(picks), 0) = cardinality(in_keys) then return; end if;
  return query
    -- The offset keeps it a look-up for each key; "exists" may read all of the queue instead.
    select i.index::int, case when x.token = i.token then 2 else 1 end, null::float8
    from unnest(in_keys, in_tokens) with ordinality as i(key, token, index)
    left join lateral (
      select k.token from sluice.keys k where k.queue_id = this_queue and k.key = i.key offset 0) x on true
    where i.index <> all (coalesce(indexes, '{}'));
end
$body$;
