-- Deletes old holders that hold nothing, except for the last thousand; made by every thousandth new
-- holder. Each claim looks its holder up again, so a deleted holder is stored again when it claims.
-- Why this plan: by id, and the held keys are read.
delete from sluice_holders
where
  id <= (select max(id) - 1000 from sluice_holders)
  and id not in (
    select holder
    from sluice_keys indexed by sluice_keys_held
    where token is not null
  )
