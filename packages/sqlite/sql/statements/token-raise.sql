-- Sees to it that only greater tokens are given out from now on.
-- Parameters: token.
update sluice_store
set token = max(token, ?)
where id = 1
