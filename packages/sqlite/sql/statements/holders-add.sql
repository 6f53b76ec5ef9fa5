-- Gives a holder a number.
-- Parameters: name.
insert into sluice_holders (name)
values (?)
