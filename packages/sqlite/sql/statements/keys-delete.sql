-- Drops a key of which nothing is worth storing any more.
-- Parameters: id.
-- Why this plan: by rowid.
delete from sluice_keys
where id = +?
