-- $1 queue, $2 claim id. Through the index of held keys, in the order of the claim.
select k.key, k.item, k.token::float8 as token, k.failures, k.crashes,
  k.claimed_priority as priority, k.claimed_asked_at as asked_at, k.claimed_ready_at as ready_at,
  k.lease_until as at
from sluice.keys k where k.queue = $1::text and k.token is not null and k.claim_id = $2::text
order by k.claimed_priority desc, k.claimed_ready_at, k.claimed_seq
