-- Drops holders that hold nothing. Claims look their holder up anew, so none is missed.
-- Why this plan: once when a file is opened; the held keys of all queues are read once.
delete from sluice_holders
where id not in (select holder from sluice_keys where token is not null)
