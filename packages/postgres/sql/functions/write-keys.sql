-- Writes keys that lock_keys has locked; those of in_gone are deleted. There is one look-up for each
-- key, as in finish_done. An item or error that is chr(1) stays as it is.
create or replace function sluice.write_keys(
  in_queue text, in_gone text[], in_keys text[], in_items text[], in_errors text[],
  in_due_at float8[], in_why int[], in_later_at float8[], in_later_why int[],
  in_ready_at float8[], in_seq bigint[], in_priority int[], in_asked_at float8[],
  in_held boolean[], in_failures int[], in_crashes int[], in_failed_at float8[],
  in_parked boolean[], in_traces text[]
) returns void language plpgsql
-- @include settings
set lock_timeout = '50ms'
as $body$
declare
  this_queue bigint := sluice.queue_number(in_queue);
begin
  if cardinality(in_keys) > 0 then
    update sluice.keys k set
      item = case when u.item = chr(1) then k.item else u.item end,
      last_error = case when u.error = chr(1) then k.last_error else u.error end,
      due_at = u.due_at, why = u.why, later_at = u.later_at,
      later_why = u.later_why, ready_at = u.ready_at, seq = u.seq, priority = u.priority,
      asked_at = u.asked_at, failures = u.failures, crashes = u.crashes,
      failed_at = u.failed_at, parked = u.parked,
      trace = u.trace, claimed_trace = case when u.held then k.claimed_trace end,
      token = case when u.held then k.token end,
      lease_until = case when u.held then k.lease_until end,
      holder = case when u.held then k.holder end,
      claim_id = case when u.held then k.claim_id end,
      claimed_due_at = case when u.held then k.claimed_due_at end,
      claimed_later_at = case when u.held then k.claimed_later_at end,
      claimed_ready_at = case when u.held then k.claimed_ready_at end,
      claimed_asked_at = case when u.held then k.claimed_asked_at end,
      claimed_seq = case when u.held then k.claimed_seq end,
      claimed_priority = case when u.held then k.claimed_priority end,
      claimed_why = case when u.held then k.claimed_why end
    from (
      select this_queue as queue_id, i.* from unnest(
        in_keys, in_items, in_errors, in_due_at, in_why, in_later_at, in_later_why, in_ready_at,
        in_seq, in_priority, in_asked_at, in_held, in_failures, in_crashes, in_failed_at, in_parked,
        in_traces
      ) as i(
        key, item, error, due_at, why, later_at, later_why, ready_at,
        seq, priority, asked_at, held, failures, crashes, failed_at, parked, trace
      )
      offset 0
    ) u
    where k.queue_id = any (array[u.queue_id]) and k.key = u.key;
  end if;
  if cardinality(in_gone) > 0 then
    delete from sluice.keys k
    using (select this_queue as queue_id, i.key from unnest(in_gone) as i(key) offset 0) u
    where k.queue_id = any (array[u.queue_id]) and k.key = u.key;
  end if;
end
$body$;
