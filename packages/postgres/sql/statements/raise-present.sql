-- See rise in the migrations. $1 the least that the present is.
select sluice.rise($1::float8) as ahead
