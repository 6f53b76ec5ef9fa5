-- Extends leases whose tokens are current; a lease without an end stays as it is.
-- Parameters: lease_until (null = without an end), the same, pairs [key, token] as JSON, queue.
-- Why this plan: the array outside, for each key one look into the unique index.
update sluice_keys
set lease_until = case
  when lease_until is null or ? is null then null
  else max(lease_until, ?)
end
where id in (
  select k.id
  from json_each(?) j
  cross join sluice_keys k on k.queue = +? and k.key = j.value ->> 0 and k.token = j.value ->> 1
)
returning key, lease_until
