-- Pauses or resumes a queue; changes nothing if it is so already. Workers of other processes have to
-- notice, so it counts as work.
-- Parameters: paused, id, paused.
-- Why this plan: by rowid.
update sluice_queues
set paused = ?, work = work + 1
where id = +? and paused <> +?
