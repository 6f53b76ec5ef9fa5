-- What a claim changes in the row of a key, but for its token and its position.
lease_until = t + in_lease, holder = in_holder, claim_id = in_claim_id,
claimed_due_at = k.due_at, claimed_why = k.why, claimed_ready_at = k.ready_at,
claimed_seq = k.seq, claimed_priority = k.priority, claimed_asked_at = k.asked_at,
claimed_later_at = case when k.later_at <= t then 'Infinity' else k.later_at end,
due_at = case when k.later_at <= t then 'Infinity' else k.later_at end,
ready_at = case when k.later_at <= t then 'Infinity' else k.later_at end,
why = k.later_why,
later_at = 'Infinity',
claimed_trace = k.trace, trace = null
