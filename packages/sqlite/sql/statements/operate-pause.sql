-- Pauses or resumes a queue; changes nothing if it is so already. It raises `work`, so that the
-- workers of other processes notice.
-- Parameters: paused, id, paused.
-- Why this plan: by rowid.
update sluice_queues
set paused = ?, work = work + 1
where id = +? and paused <> +?
