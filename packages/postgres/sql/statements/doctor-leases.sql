-- Leases that have expired and were not reclaimed.
select count(*)::int as n, coalesce(max(sluice.present(null, null) - k.lease_until), 0) as late
from sluice.keys k where k.token is not null and k.lease_until < sluice.present(null, null)
