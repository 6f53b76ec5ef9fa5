-- How many keys are held, and how many of them were added again, up to a cap.
-- Parameters: now, queue, cap.
-- Why this plan: the held keys of the queue, which are few, up to the cap.
select count(*) as held, coalesce(sum(is_dirty), 0) as dirty
from (
  select coalesce(next_due_at <= +?, 0) as is_dirty
  from sluice_keys indexed by sluice_keys_held
  where queue = +? and token is not null
  limit +?
)
