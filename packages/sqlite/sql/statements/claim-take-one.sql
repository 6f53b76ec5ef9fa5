-- The same for one key; half the work of an array of one.
-- Parameters: token, lease_until, holder, claim, id.
-- Why this plan: by rowid.
update sluice_keys
set token = ?, lease_until = ?, holder = ?, claim = ?
where id = +?
