-- Deletes a key of which nothing remains to be stored.
-- Parameters: id.
-- Why this plan: by rowid.
delete from sluice_keys
where id = +?
