-- functions/raise-tokens.sql. $1 the least that the present is.
select sluice.raise_tokens($1::float8)
