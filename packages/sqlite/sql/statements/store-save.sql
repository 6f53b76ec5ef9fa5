-- Writes back the one row of the store.
-- Parameters: token, work, ahead, latest.
-- Why this plan: by rowid.
update sluice_store
set token = ?, work = ?, ahead = ?, latest = ?
where id = 1
