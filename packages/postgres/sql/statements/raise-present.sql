-- functions/raise-present.sql. $1 the least that the present is.
select sluice.raise_present($1::float8) as ahead
