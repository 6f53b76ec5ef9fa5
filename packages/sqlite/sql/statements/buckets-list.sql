-- All buckets.
select name, per_second, burst, tokens, at
from sluice_buckets
order by name
