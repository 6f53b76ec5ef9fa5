-- Inconsistencies of keys and counters, in words; no row if there are none. Conditions that the
-- constraints of the tables enforce are not checked again.
-- Why this plan: an operator runs it by hand, and each check reads every row once.
select 'queue ' || q.name || ' counts ' || q.pending || ' pending keys, and has ' || c.pending
  as finding
from sluice_queues q
cross join (
  select
    queue,
    sum(case when token is null then due_at is not null else next_due_at is not null end) as pending
  from sluice_keys
  group by queue
) c on c.queue = q.id
where q.pending <> c.pending
union all
select 'queue ' || q.name || ' counts ' || q.pending || ' pending keys, and has none'
from sluice_queues q
where q.pending <> 0 and not exists (select 1 from sluice_keys k where k.queue = q.id)
union all
select 'key ' || k.key || ' belongs to no queue'
from sluice_keys k
where not exists (select 1 from sluice_queues q where q.id = k.queue)
union all
select 'key ' || k.key || ' has token ' || k.token || ', which was never given out'
from sluice_keys k
where k.token > (select token from sluice_store)
union all
select 'token ' || token || ' holds ' || count(*) || ' keys'
from sluice_keys
where token is not null
group by token
having count(*) > 1
union all
select 'key ' || k.key || ' is held by an unknown holder'
from sluice_keys k
where k.token is not null and not exists (select 1 from sluice_holders h where h.id = k.holder)
union all
select 'key ' || k.key || ' has seq ' || k.seq || ', which was never given out'
from sluice_keys k
cross join (
  select max(seq, coalesce((select seq from sluice_keys order by id desc limit 1), 0)) as seq
  from sluice_store
) last
where k.seq > last.seq or k.next_seq > last.seq
union all
select 'the row of the token counter is missing'
where not exists (select 1 from sluice_store)
union all
select 'key ' || k.key || ' is ready ' || (k.ready_at - k.due_at) || ' ms after it is due, at an '
  || 'instant that has not passed'
from sluice_keys k
where k.token is null
  -- The newest instant is noted when the one before it is a second old.
  and k.ready_at > max(k.due_at, (select latest from sluice_store) + 1000)
union all
select 'key ' || key || ' has nothing to be remembered for'
from sluice_keys
where token is null and due_at is null and failures = 0 and crashes = 0 and parked = 0
limit 100
