-- Writes back the one row of the store.
-- Parameters: token, ahead, latest.
-- Why this plan: by rowid.
update sluice_store
set token = ?, ahead = ?, latest = ?
where id = 1
