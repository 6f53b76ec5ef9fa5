-- Pauses or resumes a queue; changes nothing if it is so already.
-- Parameters: paused, id, paused.
-- Why this plan: by rowid.
update sluice_queues
set paused = ?
where id = +? and paused <> +?
