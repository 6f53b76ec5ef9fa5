-- The names of holders by their numbers.
-- Parameters: numbers as a JSON array.
-- Why this plan: the array outside, each row by its id.
select h.id, h.name
from json_each(?) j
cross join sluice_holders h on h.id = j.value
