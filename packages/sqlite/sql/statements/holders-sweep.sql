-- Drops old holders that hold nothing; the last thousand stay. Claims look their holder up anew, so
-- none is missed.
-- Why this plan: by id, and as a rule there are none; only if there are, the held keys are read.
delete from sluice_holders
where
  id <= (select max(id) - 1000 from sluice_holders)
  and id not in (
    select holder
    from sluice_keys indexed by sluice_keys_held
    where token is not null
  )
