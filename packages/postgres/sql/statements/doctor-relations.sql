-- What there is in the schema: tables with their columns, valid indexes, and sequences.
-- $1 schema.
select c.relname as name,
  (select string_agg(a.attname, ' ' order by a.attname) from pg_catalog.pg_attribute a
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
from pg_catalog.pg_class c
left join pg_catalog.pg_index i on i.indexrelid = c.oid
where c.relnamespace = quote_ident($1::text)::regnamespace and c.relkind in ('r', 'i', 'S')
  and i.indisvalid is not false
