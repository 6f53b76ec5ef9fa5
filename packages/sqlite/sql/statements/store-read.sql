-- The one row of the store.
-- Why this plan: by rowid.
select token, ahead, latest
from sluice_store
where id = 1
