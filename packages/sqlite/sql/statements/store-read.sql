-- The one row of the store, with the last position in the order that was handed out.
-- Why this plan: by rowid; of the keys the last row, which is where the next one is inserted.
select
  token, ahead, latest,
  max(seq, coalesce((select k.seq from sluice_keys k order by k.id desc limit 1), 0)) as seq
from sluice_store
where id = 1
