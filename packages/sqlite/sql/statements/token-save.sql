-- Parameters: token.
update sluice_store
set token = ?
where id = 1
