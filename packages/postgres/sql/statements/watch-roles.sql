-- The roles that may change a table, but not call the function that its triggers call: their changes
-- fail.
-- Parameters: table, events (insert, update, delete), schema.
select r.rolname as role
from pg_roles r cross join to_regclass($1::text) t(relation)
  cross join (
    select p.oid as function, n.oid as namespace
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where p.proname = 'add_many' and n.nspname = $3::text
  ) f
where r.rolname !~ '^pg_'
  and not (has_schema_privilege(r.oid, f.namespace, 'usage')
    and has_function_privilege(r.oid, f.function, 'execute'))
  and exists (
    select from unnest($2::text[]) e(event)
    where has_table_privilege(r.oid, t.relation, e.event)
      or e.event <> 'delete' and has_any_column_privilege(r.oid, t.relation, e.event)
  )
order by 1
