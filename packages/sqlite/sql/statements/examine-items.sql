-- Keys with items that SQLite does not take for JSON. It gives up where objects are nested more than 1,000 deep, so
-- the program looks at these itself.
-- Why this plan: an operator runs it by hand, and it reads every row once.
select key, item
from sluice_keys
where not json_valid(item)
