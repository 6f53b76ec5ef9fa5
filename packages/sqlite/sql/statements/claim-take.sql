-- Claims keys that this transaction has found to be claimable, with tokens in their order.
-- Parameters: token of the first, lease_until, holder, claim, ids as a JSON array.
-- Why this plan: the array outside, each row by its id.
update sluice_keys
set token = ? + j.key, lease_until = ?, holder = ?, claim = ?
from json_each(?) j
where sluice_keys.id = j.value
