-- Stores a holder, which gives it a number.
-- Parameters: name.
insert into sluice_holders (name)
values (?)
