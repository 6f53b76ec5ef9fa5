-- Draws tokens that no claim gets. $1 how many.
select max(pg_catalog.nextval('sluice.token'))
from pg_catalog.generate_series(1, $1::int)
