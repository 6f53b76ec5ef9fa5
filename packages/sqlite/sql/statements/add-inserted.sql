-- The keys that an add has just inserted: new rows have the ids that follow the highest one.
-- Parameters: id of the first, id of the last.
-- Why this plan: a range of rowids.
select key
from sluice_keys
where id between +? and +?
