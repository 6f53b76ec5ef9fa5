-- One step of a purge, which removes the keys up to in_last in the order of arrival: those that are added
-- after it has begun stay. The first step, without in_after, returns where the order ends, and clears the
-- held keys, before their holders give them back. Each other step removes up to in_limit keys after in_after,
-- in the order of the keys. Skips locked rows, or with in_wait waits for each. Returns how many it changed,
-- and after which key to continue (null: at the end).
create or replace function sluice.operate_purge(
  in_queue text, in_after text, in_last bigint, in_limit int, in_wait boolean
) returns table (changed int, next text, last bigint) language plpgsql
-- @include settings
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number(in_queue);
  seen text[]; picks tid[]; freed int; taken int;
begin
  if in_after is null then
    in_last := nextval('sluice.arrival');
    picks := array(select k.ctid from sluice.keys k
      where k.queue_id = this_queue and k.token is not null for update skip locked);
  elsif in_wait then
    select array_agg(x.key), array_agg(x.ctid) into seen, picks from (
      select k.key, k.ctid from sluice.keys k where k.queue_id = this_queue and k.key > in_after
        and k.seq <= in_last
      order by k.queue_id, k.key limit in_limit for update) x;
  else
    select array_agg(x.key), array_agg(x.ctid) into seen, picks from (
      select k.key, k.ctid from sluice.keys k where k.queue_id = this_queue and k.key > in_after
        and k.seq <= in_last
      order by k.queue_id, k.key limit in_limit for update skip locked) x;
  end if;
  delete from sluice.keys k where k.ctid = any (picks) and k.token is null;
  get diagnostics freed = row_count;
  update sluice.keys k set due_at = 'Infinity', later_at = 'Infinity', failures = 0, crashes = 0,
    failed_at = null, parked = false, trace = null
  where k.ctid = any (picks) and k.token is not null
    and (k.due_at < 'Infinity' or k.failures > 0 or k.crashes > 0 or k.parked);
  get diagnostics taken = row_count;
  return query select freed + taken, case
    when in_after is null then ''
    when cardinality(seen) = in_limit then seen[in_limit] end, in_last;
end
$body$;
