-- The last position in the order that was handed out, which heartbeats and renewals do not change.
-- Why this plan: one row by its rowid, and the last row of the keys.
select max(seq, coalesce((select k.seq from sluice_keys k order by k.id desc limit 1), 0)) as last
from sluice_store
where id = 1
