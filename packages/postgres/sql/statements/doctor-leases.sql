-- Leases that are over and have not been noticed. $1 now.
select count(*)::int as n, coalesce(max(sluice.present($1::float8) - k.lease_until), 0) as late
from sluice.keys k where k.token is not null and k.lease_until < sluice.present($1::float8)
