-- The number of a holder.
-- Parameters: name.
-- Why this plan: one look into the unique index on name.
select id
from sluice_holders
where name = +?
