-- What a claim changes in the row of a key. Second runs get their positions in the order of claims, which
-- `picks` has; the sub-select draws once for all of them, and only if there is one.
lease_until = until, holder = in_holder, claim_id = in_claim_id,
claimed_due_at = k.due_at, claimed_why = k.why, claimed_ready_at = k.ready_at,
claimed_seq = k.seq, claimed_priority = k.priority, claimed_asked_at = k.asked_at,
claimed_later_at = case when k.later_at <= t then 'Infinity' else k.later_at end,
due_at = case when k.later_at <= t then 'Infinity' else k.later_at end,
ready_at = case when k.later_at <= t then 'Infinity' else k.later_at end,
why = k.later_why,
seq = case when k.later_at < 'Infinity'
  then (select nextval('sluice.arrival')) + array_position(picks, k.ctid) else k.seq end,
later_at = 'Infinity',
claimed_trace = k.trace, trace = null
