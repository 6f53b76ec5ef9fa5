-- The one row of the store, with the last position in the order that was handed out, and the row of a
-- queue, if it has one; with the last schema that older programs cannot work with.
-- Parameters: name of the queue, or null.
-- Why this plan: one row, by its rowid or as the only one; of the schemas, from the last one back, those
-- that break nothing and one that does; of the keys the last row, which is where the next
-- one is inserted; one look into the unique index on name, which statistics of a file with few queues would
-- have the planner leave out.
select
  s.token, s.ahead, s.latest,
  max(s.seq, coalesce((select k.seq from sluice_keys k order by k.id desc limit 1), 0)) as seq,
  q.id as queue_id, q.paused, q.pending,
  (select v.version from sluice_schema v where v.breaking = 1 order by v.version desc limit 1) as breaking
from sluice_store s
left join sluice_queues q indexed by sqlite_autoindex_sluice_queues_1 on q.name = +?
where s.id = 1
