-- A queue by its name.
-- Parameters: name.
-- Why this plan: one look into the unique index on name.
select id, paused, pending
from sluice_queues
where name = +?
