-- Whether the function exists that the triggers of a table and a queue call.
-- Parameters: the function.
select to_regprocedure($1::text || '()') is not null as found
