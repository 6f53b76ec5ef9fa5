-- The greatest id of a key.
-- Why this plan: the last row of the keys.
select max(id) as last from sluice_keys
