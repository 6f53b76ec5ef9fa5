-- Writes back the one row of the store.
-- Parameters: token, seq, ahead, latest.
-- Why this plan: by rowid.
update sluice_store
set token = ?, seq = ?, ahead = ?, latest = ?
where id = 1
