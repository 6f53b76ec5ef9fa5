-- The keys of a claim that are still held, in the order in which they were claimed. Reads the index of
-- held keys, which has at most as many entries as workers can hold.
create or replace function sluice.claim_adopt(in_queue text, in_claim_id text) returns table (
  key text, item text, token bigint, failures int, crashes int, priority int, asked_at float8,
  ready_at float8, at float8, trace text
) language plpgsql
-- @include settings
set lock_timeout = '50ms'
as $body$
#variable_conflict use_column
declare
  this_queue bigint := sluice.queue_number(in_queue);
begin
  return query
    select k.key, k.item, k.token, k.failures, k.crashes, k.claimed_priority, k.claimed_asked_at,
      k.claimed_ready_at, k.lease_until, k.claimed_trace
    from sluice.keys k
    where k.queue_id = this_queue and k.token is not null and k.claim_id = in_claim_id
    order by k.claimed_priority desc, k.claimed_ready_at, k.claimed_seq;
end
$body$;
