-- The keys that are held under the name of one claim request.
-- Parameters: queue, claim.
-- Why this plan: the held keys of the queue are few, and it runs only when the reply to a claim was lost.
select key, item, token, failures, crashes, priority, asked_at, ready_at, lease_until, trace
from sluice_keys indexed by sluice_keys_held
where queue = +? and claim = +? and token is not null
order by token
