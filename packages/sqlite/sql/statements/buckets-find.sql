-- The state of a bucket.
-- Parameters: name.
-- Why this plan: by primary key.
select tokens, at
from sluice_buckets
where name = +?
